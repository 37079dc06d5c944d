"""`inconsistent-offsets`: one offset of a key holds two or more values.

Permitted only if all but at most one of those values were permitted to be lost.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     polled(2, "c1", "t-0", (0, 7)),
...     polled(3, "c2", "t-0", (0, 8)),
... ]))
>>> print(verdict.anomalies[0].message)
Offset 0 of t-0 held two or more records: 7 (send of p1 at 0.000001 s), 8 (poll of c2 at 0.000003 s).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tidemark.checkers.history.columns.columns import Ints
from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key
from tidemark.checkers.history.history import Value
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement, seconds

NAME = "inconsistent-offsets"


def inconsistent_offsets(versions: Versions, fate: Callable[[str, Value], Judgement | None]) -> list[Anomaly]:
    """The conflicting offsets of all keys; `fate` gives the judgement of a value that the replicas lost, or `None`."""
    anomalies = []
    for key, rows in by_key(versions, versions.conflicting):
        anomalies += shortened(_conflicts(versions, key, rows, fate))
    return anomalies


def _conflicts(
    versions: Versions, key: str, rows: Ints, fate: Callable[[str, Value], Judgement | None]
) -> list[Anomaly]:
    held: dict[int, dict[Value, Sighting]] = defaultdict(dict)
    for row in rows:
        held[int(versions.offset[row])].setdefault(int(versions.value[row]), versions.sighting(row))
    return [
        _anomaly(key, offset, seen, [fate(key, one.value) for one in seen])
        for offset, seen in [(offset, list(values.values())) for offset, values in sorted(held.items())]
    ]


def _anomaly(key: str, offset: int, seen: list[Sighting], fates: list[Judgement | None]) -> Anomaly:
    told = ", ".join(f"{one.value} ({one.f} of {one.process} at {seconds(one.time)})" for one in seen)
    excused = [fate.clause for fate in fates if fate is not None and fate.verdict == PERMITTED]
    permitted = len(excused) >= len(seen) - 1
    breaks = tuple(dict.fromkeys(promise for fate in fates if fate is not None for promise in fate.breaks))
    return Anomaly(
        NAME,
        PERMITTED if permitted else VIOLATION,
        seen[1].time,
        key,
        f"Offset {offset} of {key} held two or more records: {told}.",
        excused[0] if permitted else None,
        breaks,
        {
            "offset": offset,
            "values": [{"value": one.value, "f": one.f, "process": one.process, "time": one.time} for one in seen],
        },
    )
