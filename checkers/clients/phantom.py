"""`phantom`: a poll returned a value that nobody sent.

>>> from tidemark.checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(2, "c1", "t-0", (0, 7))]))
>>> print(verdict.anomalies[0].message)
c1 read record 7 of t-0 at offset 0 at 0.000002 s, which nobody sent.
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key, first_of_each
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, at_offset, seconds

NAME = "phantom"


def phantoms(versions: Versions) -> list[Anomaly]:
    """The phantoms of all keys, one for each value."""
    unsent = versions.read & ~versions.sent
    if not unsent.any():
        return []
    anomalies = []
    for key, rows in by_key(versions, np.flatnonzero(versions.is_read & unsent[versions.value])):
        reads = map(versions.sighting, first_of_each(versions.value, rows))
        anomalies += shortened([_anomaly(key, read) for read in reads])
    return anomalies


def _anomaly(key: str, read: Sighting) -> Anomaly:
    message = (
        f"{read.process} read record {read.value} of {key} {at_offset(read.offset)} at {seconds(read.time)}, "
        f"which nobody sent."
    )
    evidence = {
        "value": read.value,
        "offset": read.offset,
        "read_time": read.time,
        "read_process": read.process,
    }
    return Anomaly(NAME, VIOLATION, read.time, key, message, evidence=evidence)
