"""`duplicate`: one value at more than one offset, each of them told to a client by a send or a poll.

Where a value was permitted to be lost, an earlier attempt to send it may have come back with the log of whoever leads now.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7), (1, 7))]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 is at more than one offset: 0 (send of p1 at 0.000001 s), 1 (poll of c1 at 0.000002 s).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key
from tidemark.checkers.history.history import Value
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement, seconds

NAME = "duplicate"
NOT_IDEMPOTENT = "producers-not-idempotent"


def duplicates(
    versions: Versions, fates: Mapping[tuple[str, Value], Judgement], *, idempotent: bool = True
) -> list[Anomaly]:
    """The duplicated values of all keys; without idempotent producers they are permitted: a client may repeat what was written.

    ``fates``: how the losses of values were judged.
    """
    anomalies = []
    for key, rows in by_key(versions, versions.repeated):
        places: dict[int, dict[int | None, Sighting]] = defaultdict(dict)
        for row in rows:
            sighting = versions.sighting(row)
            places[int(versions.value[row])].setdefault(sighting.offset, sighting)
        told = [list(seen.values()) for seen in places.values()]
        anomalies += shortened([_anomaly(key, seen, fates.get((key, seen[0].value)), idempotent) for seen in told])
    return anomalies


def _anomaly(key: str, seen: list[Sighting], fate: Judgement | None, idempotent: bool) -> Anomaly:
    value = seen[0].value
    told = ", ".join(f"{one.offset} ({one.f} of {one.process} at {seconds(one.time)})" for one in seen)
    evidence = {
        "value": value,
        "offsets": [{"offset": one.offset, "f": one.f, "process": one.process, "time": one.time} for one in seen],
    }
    message = f"Record {value} of {key} is at more than one offset: {told}."
    permitted = fate if fate is not None and fate.verdict == PERMITTED else None
    if idempotent and permitted is None:
        return Anomaly(NAME, VIOLATION, seen[1].time, key, message, evidence=evidence)
    clause = NOT_IDEMPOTENT if permitted is None else permitted.clause
    return Anomaly(NAME, PERMITTED, seen[1].time, key, message, clause=clause, evidence=evidence)
