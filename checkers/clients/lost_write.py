"""`lost-write`: a write that must have committed was never read, although later ones were, or although everything was.

Per key: the bound is the greatest first offset of any value that an ok poll read; every value whose last offset
is not beyond the bound, that must have committed and that no poll returned, is lost. (Jepsen numbers the
offsets densely; the order is the same.) So is a value acknowledged under acks=all before a `final_read` of its key
began that came to its end, wherever it was written: also the last ones, also all of them. Jepsen calls those unseen only.
A value that was deleted on purpose is not: what the replicas' evidence says of that, or without any the clients' own requests.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     polled(3, "c1", "t-0", (1, 8)),
... ]))
>>> [(anomaly.name, anomaly.evidence["value"]) for anomaly in verdict.anomalies]
[('lost-write', 7)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.clients.final_read import FinalRead
from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.columns.columns import OK, UNKNOWN, Bits, Ints
from tidemark.checkers.history.columns.versions import Sighting, by_key
from tidemark.checkers.history.history import Value
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import Anomaly, Judgement, seconds

NAME = "lost-write"
_NONE = np.empty(0, np.int64)
_AT_ONCE = 1 << 14
"""So many reads are looked at together."""


class LostValue(NamedTuple):
    """A value that is lost; `offset` is the last known, None if there is none, `read` the final read that did not return it, None
    if an ok poll read beyond its offset; `ack` is its first acknowledgement.
    """

    value: Value
    offset: int | None
    read: FinalRead | None
    ack: Ack | None


def lost_by_key(
    clients: Clients,
    deleted: Callable[[str], set[Value]] | None = None,
    reads: Mapping[str, FinalRead] | None = None,
) -> dict[str, list[LostValue]]:
    """The lost values of all keys that have any, those that were read beyond first, by offset.

    Args:
        clients: what they saw.
        deleted: gives a key's values that were deleted on purpose; None if only the clients know.
        reads: the final reads of keys that came to an end.
    """
    versions = clients.versions
    unread = versions.committed & ~versions.read
    if not unread.any():
        return {}
    acks: dict[str, dict[Value, Ack]] = {}
    for key, ack in clients.unread_acks:
        acks.setdefault(key, {})[ack.value] = ack
    passed = _passed(clients, unread)
    found = {}
    for key in sorted(passed.keys() | acks.keys()):
        acked = acks.get(key, {})
        lost = [LostValue(value, offset, None, acked.get(value)) for offset, value in passed.get(key, ())]
        read = (reads or {}).get(key)
        if read is not None:
            known = {one.value for one in lost}
            lost += [
                LostValue(ack.value, ack.offset, read, ack)
                for ack in acked.values()
                if ack.value not in known and ack.acks == "all" and ack.time < read.began
            ]
        if deleted is not None:
            lost = [one for one in lost if one.value not in deleted(key)]
        else:
            lost = [one for one in lost if not clients.may_be_deleted(key, one.offset, one.ack)]
        if lost:
            found[key] = lost
    return found


def _passed(clients: Clients, unread: Bits) -> dict[str, list[tuple[int, Value]]]:
    """The unread values that an ok poll read beyond, by key, as ``(last offset, value)``, by offset."""
    versions = clients.versions
    first, last = versions.first_and_last
    read = np.flatnonzero(versions.read_ok)
    bound = np.full(len(clients.columns.keys), -1, np.int64)
    np.maximum.at(bound, versions.key[versions.a_row_of[read]], first[read])
    rows = versions.sightings[unread[versions.value[versions.sightings]]]
    position = last[versions.value[rows]]
    rows = rows[(position >= 0) & (position <= bound[versions.key[rows]])]
    found = {}
    for key, of_key in by_key(versions, rows):
        offsets: dict[int, tuple[int, int]] = {}
        for row in of_key.tolist():
            value, offset = int(versions.value[row]), int(versions.offset[row])
            offsets[value] = max(offsets.get(value, (offset, row)), (offset, row))
        places = [(offset, versions.value_of(row)) for offset, row in offsets.values()]
        found[key] = sorted(places, key=lambda place: (place[0], isinstance(place[1], str), place[1]))
    return found


def lost_writes(
    clients: Clients, lost: Mapping[str, list[LostValue]], judge: Callable[[str, Value], Judgement]
) -> list[Anomaly]:
    """The lost values as anomalies; `judge` says of a key and a value whether its loss was permitted."""
    versions = clients.versions
    if not lost:
        return []
    reads = dict(
        by_key(versions, np.flatnonzero(versions.is_read & (versions.type == OK) & (versions.offset > UNKNOWN)))
    )
    anomalies = []
    for key, values in lost.items():
        told = [_anomaly(clients, key, one, reads.get(key, _NONE), judge(key, one.value)) for one in values]
        anomalies += shortened(told)
    return anomalies


def _read_beyond(clients: Clients, reads: Ints, offset: int, ack: Ack | None) -> Sighting:
    """The first read at or beyond an offset, after the acknowledgement if there is one."""
    versions = clients.versions
    times = clients.columns.time
    begin = int(np.searchsorted(times[versions.half[reads]], ack.time)) if ack else 0
    for start in (begin, 0):
        for at in range(start, len(reads), _AT_ONCE):
            there = versions.offset[reads[at : at + _AT_ONCE]] >= offset
            if there.any():
                return versions.sighting(int(reads[at + int(there.argmax())]))
    raise AssertionError(f"nothing beyond offset {offset} was read")


def _anomaly(clients: Clients, key: str, lost: LostValue, reads: Ints, judgement: Judgement) -> Anomaly:
    ack = lost.ack
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
        passed = _read_beyond(clients, reads, lost.offset or 0, ack)
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
