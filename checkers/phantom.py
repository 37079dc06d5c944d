"""`phantom`: a poll returned a value that nobody sent.

>>> from checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(2, "c1", "t-0", (0, 7))]))
>>> print(verdict.anomalies[0].message)
c1 read record 7 of t-0 at offset 0 at 0.000002 s, which nobody sent.
"""

from __future__ import annotations

from checkers.client_view import ClientView, Sighting
from checkers.history import Value
from checkers.shortened import shortened
from checkers.verdict import VIOLATION, Anomaly, seconds

NAME = "phantom"


def phantoms(view: ClientView) -> list[Anomaly]:
    """The phantoms of all keys, one for each value."""
    anomalies = []
    for key, seen in sorted(view.keys.items()):
        unsent = seen.read_values() - seen.invoked
        reads: dict[Value, Sighting] = {}
        for sighting in view.sightings(key) if unsent else ():
            if sighting.value in unsent:
                reads.setdefault(sighting.value, sighting)
        anomalies += shortened([_anomaly(key, read) for read in reads.values()])
    return anomalies


def _anomaly(key: str, read: Sighting) -> Anomaly:
    message = (
        f"{read.process} read record {read.value} of {key} at offset {read.offset} at {seconds(read.time)}, "
        f"which nobody sent."
    )
    evidence = {
        "value": read.value,
        "offset": read.offset,
        "read_time": read.time,
        "read_process": read.process,
    }
    return Anomaly(NAME, VIOLATION, read.time, key, message, evidence=evidence)
