"""`precommitted-read`: an operation polled a value that it sent itself, before its transaction could have committed.

>>> from tidemark.checkers import History, Op, check
>>> micros = (("send", "t-0", (0, 7)), ("poll", {"t-0": [(0, 7)]}))
>>> verdict = check(History.of(ops=[Op(1, "p1", "ok", "txn", micros)]))
>>> print(verdict.anomalies[0].message)
p1 read record 7 of t-0 at offset 0 at 0.000001 s in the very operation that sent it.
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.history.columns.columns import F_TXN, INVOKE
from tidemark.checkers.history.columns.versions import Versions, by_key
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, at_offset, seconds

NAME = "precommitted-read"


def precommitted_reads(versions: Versions) -> list[Anomaly]:
    """The precommitted reads of all keys, one for each operation and value."""
    columns = versions.columns
    if not (columns.f == F_TXN).any():
        return []
    rows = np.flatnonzero((columns.f[versions.half] == F_TXN) & (versions.type != INVOKE))
    pair = versions.half[rows] * max(versions.values, 1) + versions.value[rows]
    reads = rows[versions.is_read[rows]]
    own = np.isin(pair[versions.is_read[rows]], pair[versions.is_send[rows]])
    anomalies = []
    for key, found in by_key(versions, reads[own]):
        told: dict[tuple[int, int], Anomaly] = {}
        for row in found.tolist():
            told.setdefault((int(versions.half[row]), int(versions.value[row])), _anomaly(versions, key, row))
        anomalies += shortened(list(told.values()))
    return anomalies


def _anomaly(versions: Versions, key: str, row: int) -> Anomaly:
    read = versions.sighting(row)
    message = (
        f"{read.process} read record {read.value} of {key} {at_offset(read.offset)} at {seconds(read.time)} "
        f"in the very operation that sent it."
    )
    evidence = {"value": read.value, "offset": read.offset, "time": read.time, "process": read.process}
    return Anomaly(NAME, VIOLATION, read.time, key, message, evidence=evidence)
