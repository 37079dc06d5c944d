"""`G1a`, aborted read: an ok poll returned a value whose send failed, and so certainly did not happen.

>>> from tidemark.checkers import History, Op, check, polled
>>> verdict = check(History.of(ops=[
...     Op(1, "p1", "fail", "send", (("send", "t-0", 7),), "NOT_ENOUGH_REPLICAS", "all"),
...     polled(2, "c1", "t-0", (0, 7)),
... ]))
>>> print(verdict.anomalies[0].message)
c1 read record 7 of t-0 at offset 0 at 0.000002 s, but its send had failed (NOT_ENOUGH_REPLICAS).
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.history.columns.columns import F_TXN, FAIL, OK
from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key, first_of_each
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, at_offset, seconds

NAME = "G1a"


def aborted_reads(versions: Versions) -> list[Anomaly]:
    """The aborted reads of all keys, one for each value; not of values that another attempt wrote."""
    if not versions.failed.any():
        return []
    aborted = versions.read_ok & versions.failed & ~versions.acked
    ended = versions.type
    reads = np.flatnonzero(versions.is_read & (ended == OK) & aborted[versions.value])
    sends = np.flatnonzero(versions.is_send & (ended == FAIL) & aborted[versions.value])
    failed = {int(versions.value[row]): int(row) for row in reversed(sends)}
    anomalies = []
    for key, rows in by_key(versions, reads):
        told = [(row, failed[int(versions.value[row])]) for row in first_of_each(versions.value, rows)]
        anomalies += shortened([_anomaly(versions, key, versions.sighting(row), send) for row, send in told])
    return anomalies


def _anomaly(versions: Versions, key: str, read: Sighting, send: int) -> Anomaly:
    half = versions.half[send]
    columns = versions.columns
    why = columns.errors[columns.error[half]]
    error = f" ({why})" if why else ""
    what = "transaction" if columns.f[half] == F_TXN else "send"
    message = (
        f"{read.process} read record {read.value} of {key} {at_offset(read.offset)} at {seconds(read.time)}, "
        f"but its {what} had failed{error}."
    )
    evidence = {
        "value": read.value,
        "offset": read.offset,
        "read_time": read.time,
        "read_process": read.process,
        "send_time": int(columns.time[half]),
        "send_process": columns.processes[columns.process[half]],
        "error": why,
    }
    return Anomaly(NAME, VIOLATION, read.time, key, message, evidence=evidence)
