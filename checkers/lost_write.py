"""`lost-write`: a write that must have committed was never read, although later ones were.

Per key: the bound is the greatest first offset of any value that an ok poll read; every value whose last offset
is not beyond the bound, that must have committed and that no poll returned, is lost. (Jepsen numbers the
offsets densely; the order is the same.) A value that was deleted on purpose is not: what the replicas' evidence says
of that, or without any the clients' own requests.

>>> from checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     polled(3, "c1", "t-0", (1, 8)),
... ]))
>>> [(anomaly.name, anomaly.evidence["value"]) for anomaly in verdict.anomalies]
[('lost-write', 7)]
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import islice

from checkers.client_view import Ack, ClientView, KeyView, Placed, Sighting
from checkers.history import Value
from checkers.shortened import shortened
from checkers.verdict import Anomaly, Judgement, seconds

NAME = "lost-write"


def lost_writes(
    view: ClientView,
    judge: Callable[[str, Value], Judgement],
    deleted: Callable[[str], set[Value]] | None = None,
) -> list[Anomaly]:
    """The lost writes of all keys.

    Args:
        view: what the clients saw.
        judge: says of a key and a value whether its loss was permitted.
        deleted: gives a key's values that were deleted on purpose; None if only the clients know.
    """
    anomalies = []
    for key, seen in sorted(view.keys.items()):
        lost = lost_values(seen, view.must_have_committed(key)) if seen.ok_reads else []
        if lost and deleted is not None:
            lost = [(offset, value) for offset, value in lost if value not in deleted(key)]
        elif seen.deletions:
            lost = [(offset, value) for offset, value in lost if not seen.may_be_deleted(value, offset)]
        if lost:
            anomalies += _anomalies(view, key, lost, judge)
    return anomalies


def lost_values(seen: KeyView, committed: set[Value]) -> list[Placed]:
    """The lost values of one key as ``(last offset, value)``, by offset."""
    unread = committed - seen.read_values()
    if not unread:
        return []
    placed = seen.all_placed()
    first = _by_value(placed, min)
    last = _by_value(placed, max)
    bound = max(first[value] for _, value in seen.ok_reads)
    return sorted((last[value], value) for value in unread if value in last and last[value] <= bound)


def _by_value(placed: Iterable[Placed], choose: Callable[[int, int], int]) -> dict[Value, int]:
    offsets: dict[Value, int] = {}
    for offset, value in placed:
        offsets[value] = choose(offsets.get(value, offset), offset)
    return offsets


def _anomalies(
    view: ClientView, key: str, lost: list[Placed], judge: Callable[[str, Value], Judgement]
) -> list[Anomaly]:
    reads = [sighting for sighting in view.sightings(key) if sighting.f == "poll" and sighting.type == "ok"]
    anomalies = []
    for offset, value in lost:
        passed = _read_beyond(reads, offset, view.keys[key].acked.get(value))
        anomalies.append(_anomaly(view, key, offset, value, passed, judge(key, value)))
    return shortened(anomalies)


def _read_beyond(reads: list[Sighting], offset: int, ack: Ack | None) -> Sighting:
    """The first read at or beyond an offset, after the acknowledgement if there is one."""
    begin = bisect_left(reads, ack.time, key=lambda read: read.time) if ack else 0
    for read in islice(reads, begin, None):
        if read.offset >= offset:
            return read
    return next(read for read in reads if read.offset >= offset)


def _anomaly(view: ClientView, key: str, offset: int, value: Value, passed: Sighting, judgement: Judgement) -> Anomaly:
    ack = view.keys[key].acked.get(value)
    told = (
        f"acknowledged to {ack.process} at {seconds(ack.time)}" if ack else "sent together with a record that was read"
    )
    message = (
        f"Record {value} of {key} at offset {offset} ({told}) was never read, although {passed.process} read record "
        f"{passed.value} at offset {passed.offset} at {seconds(passed.time)}."
    )
    evidence = {
        "value": value,
        "offset": offset,
        "ack_time": ack.time if ack else None,
        "ack_process": ack.process if ack else None,
        "read_beyond": {
            "time": passed.time,
            "process": passed.process,
            "offset": passed.offset,
            "value": passed.value,
        },
    }
    return Anomaly(NAME, judgement.verdict, passed.time, key, message, judgement.clause, judgement.breaks, evidence)
