"""`duplicate`: one value at more than one offset, each of them told to a client by a send or a poll.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7), (1, 7))]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 is at more than one offset: 0 (send of p1 at 0.000001 s), 1 (poll of c1 at 0.000002 s).
"""

from __future__ import annotations

from collections import defaultdict

from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key
from tidemark.checkers.history.history import Value
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, seconds

NAME = "duplicate"
NOT_IDEMPOTENT = "producers-not-idempotent"


def duplicates(versions: Versions, *, idempotent: bool = True) -> list[Anomaly]:
    """The duplicated values of all keys; without idempotent producers they are permitted: a client may repeat what was written."""
    anomalies = []
    for key, rows in by_key(versions, versions.repeated):
        places: dict[int, dict[int | None, Sighting]] = defaultdict(dict)
        for row in rows:
            sighting = versions.sighting(row)
            places[int(versions.value[row])].setdefault(sighting.offset, sighting)
        told = [list(seen.values()) for seen in places.values()]
        anomalies += shortened([_anomaly(key, seen[0].value, seen, idempotent) for seen in told])
    return anomalies


def _anomaly(key: str, value: Value, seen: list[Sighting], idempotent: bool) -> Anomaly:
    told = ", ".join(f"{one.offset} ({one.f} of {one.process} at {seconds(one.time)})" for one in seen)
    evidence = {
        "value": value,
        "offsets": [{"offset": one.offset, "f": one.f, "process": one.process, "time": one.time} for one in seen],
    }
    message = f"Record {value} of {key} is at more than one offset: {told}."
    if idempotent:
        return Anomaly(NAME, VIOLATION, seen[1].time, key, message, evidence=evidence)
    return Anomaly(NAME, PERMITTED, seen[1].time, key, message, clause=NOT_IDEMPOTENT, evidence=evidence)
