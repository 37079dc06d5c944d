"""`lost-write`: a write that must have committed was never read, although later ones were, or although everything was.

Per key: the bound is the greatest first offset of any value that an ok poll read; every value whose last offset
is not beyond the bound, that must have committed and that no poll returned, is lost. (Jepsen numbers the
offsets densely; the order is the same.) So is a value acknowledged under acks=all before a `final_read` of its key
began that came to its end, wherever it was written: also the last ones, also all of them. Jepsen calls those unseen only.
A value that was deleted on purpose is not: what the replicas' evidence says of that, or without any the clients' own requests.

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
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from checkers.client_view import Ack, ClientView, KeyView, Placed, Sighting
from checkers.final_read import FinalRead
from checkers.history import Value
from checkers.shortened import shortened
from checkers.verdict import Anomaly, Judgement, seconds

NAME = "lost-write"


class LostValue(NamedTuple):
    """A value that is lost; `offset` is the last known, None if there is none, `read` the final read that did not return it, None
    if an ok poll read beyond its offset.
    """

    value: Value
    offset: int | None
    read: FinalRead | None


def lost_by_key(
    view: ClientView,
    deleted: Callable[[str], set[Value]] | None = None,
    reads: Mapping[str, FinalRead] | None = None,
) -> dict[str, list[LostValue]]:
    """The lost values of all keys that have any, those that were read beyond first, by offset.

    Args:
        view: what the clients saw.
        deleted: gives a key's values that were deleted on purpose; None if only the clients know.
        reads: the final reads of keys that came to an end.
    """
    found = {}
    for key, seen in sorted(view.keys.items()):
        passed = lost_values(seen, view.must_have_committed(key)) if seen.ok_reads else []
        lost = [LostValue(value, offset, None) for offset, value in passed]
        read = (reads or {}).get(key)
        if read is not None:
            lost += _not_there(seen, read, {one.value for one in lost})
        if lost and deleted is not None:
            lost = [one for one in lost if one.value not in deleted(key)]
        elif seen.deletions:
            lost = [one for one in lost if not seen.may_be_deleted(one.value, one.offset)]
        if lost:
            found[key] = lost
    return found


def lost_writes(
    view: ClientView, lost: Mapping[str, list[LostValue]], judge: Callable[[str, Value], Judgement]
) -> list[Anomaly]:
    """The lost values as anomalies; `judge` says of a key and a value whether its loss was permitted."""
    anomalies = []
    for key, values in lost.items():
        anomalies += _anomalies(view, key, values, judge)
    return anomalies


def _not_there(seen: KeyView, read: FinalRead, known: set[Value]) -> list[LostValue]:
    """The values that were acknowledged before a final read began, and that neither it nor any other poll returned."""
    unread = seen.acked.keys() - seen.read_values() - known
    acks = [ack for value, ack in seen.acked.items() if value in unread and ack.acks == "all" and ack.time < read.began]
    return [LostValue(ack.value, ack.offset, read) for ack in acks]


def lost_values(seen: KeyView, committed: set[Value]) -> list[Placed]:
    """The lost values of one key as ``(last offset, value)``, by offset."""
    unread = committed - seen.read_values()
    if not unread:
        return []
    placed = seen.all_placed()
    first = _by_value(placed, min)
    last = _by_value(placed, max)
    bound = max(first[value] for _, value in seen.ok_reads)
    lost = [(last[value], value) for value in unread if value in last and last[value] <= bound]
    return sorted(lost, key=lambda place: (place[0], isinstance(place[1], str), place[1]))


def _by_value(placed: Iterable[Placed], choose: Callable[[int, int], int]) -> dict[Value, int]:
    offsets: dict[Value, int] = {}
    for offset, value in placed:
        offsets[value] = choose(offsets.get(value, offset), offset)
    return offsets


def _anomalies(
    view: ClientView, key: str, lost: list[LostValue], judge: Callable[[str, Value], Judgement]
) -> list[Anomaly]:
    reads = [sighting for sighting in view.sightings(key) if sighting.f == "poll" and sighting.type == "ok"]
    acked = view.keys[key].acked
    return shortened([_anomaly(key, one, acked.get(one.value), reads, judge(key, one.value)) for one in lost])


def _read_beyond(reads: list[Sighting], offset: int, ack: Ack | None) -> Sighting:
    """The first read at or beyond an offset, after the acknowledgement if there is one."""
    begin = bisect_left(reads, ack.time, key=lambda read: read.time) if ack else 0
    for read in islice(reads, begin, None):
        if read.offset >= offset:
            return read
    return next(read for read in reads if read.offset >= offset)


def _anomaly(key: str, lost: LostValue, ack: Ack | None, reads: list[Sighting], judgement: Judgement) -> Anomaly:
    told = (
        f"acknowledged to {ack.process} at {seconds(ack.time)}" if ack else "sent together with a record that was read"
    )
    evidence: dict[str, Any] = {
        "value": lost.value,
        "offset": lost.offset,
        "ack_time": ack.time if ack else None,
        "ack_process": ack.process if ack else None,
    }
    if lost.read is not None:
        time = lost.read.ended
        although = f"{lost.read.process} had read all of {key} by {seconds(time)}"
        evidence["final_read"] = lost.read._asdict()
    else:
        passed = _read_beyond(reads, lost.offset or 0, ack)
        time = passed.time
        although = f"{passed.process} read record {passed.value} at offset {passed.offset} at {seconds(time)}"
        evidence["read_beyond"] = {
            "time": time,
            "process": passed.process,
            "offset": passed.offset,
            "value": passed.value,
        }
    place = "" if lost.offset is None else f" at offset {lost.offset}"
    message = f"Record {lost.value} of {key}{place} ({told}) was never read, although {although}."
    return Anomaly(NAME, judgement.verdict, time, key, message, judgement.clause, judgement.breaks, evidence)
