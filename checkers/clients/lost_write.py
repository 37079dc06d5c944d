"""`lost-write`: a write that must have committed was never read, although later ones were; or all was read in the end, and not it.

Per key: the bound is the greatest first offset of any value that an ok poll read; every value whose last offset
is not beyond the bound, that must have committed and that no poll returned, is lost. (Jepsen numbers the
offsets densely; the order is the same.) So is a value that was acknowledged under acks=all, or read by an ok poll, before a
`final_read` of its key began that came to its end, and that this did not return, wherever it was written: also the last ones, also
all of them, read before or not. Jepsen calls those that nobody read unseen, and knows nothing of the others.
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

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import NEVER, Clients
from tidemark.checkers.clients.final_read import FinalRead, FinalReads
from tidemark.checkers.clients.missing_records import missing_records
from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.columns.columns import OK, UNKNOWN, Bits, Ints
from tidemark.checkers.history.columns.versions import Sighting, by_key
from tidemark.checkers.history.history import Value
from tidemark.checkers.verdict.shortened import MOST_PER_KEY, shortened
from tidemark.checkers.verdict.verdict import Anomaly, Judgement, seconds

NAME = "lost-write"
_NONE = np.empty(0, np.int64)
_AT_ONCE = 1 << 14
"""So many reads are looked at together."""


class LostValue(NamedTuple):
    """A value that is lost, by its id in the versions; `offset` is the last known, None if there is none, `read` the final read
    that did not return it, None if an ok poll read beyond its offset; `ack` is its first acknowledgement.
    """

    number: int
    value: Value
    offset: int | None
    read: FinalRead | None
    ack: Ack | None


def lost_by_key(
    clients: Clients,
    deleted: Callable[[str], set[Value]] | None = None,
    reads: FinalReads | None = None,
) -> dict[str, list[LostValue]]:
    """The lost values of all keys that have any, those that were read beyond first, by offset.

    Args:
        clients: what they saw.
        deleted: gives a key's values that were deleted on purpose; None if only the clients know.
        reads: the final reads of keys that came to an end.
    """
    versions, columns = clients.versions, clients.columns
    unread = versions.committed & ~versions.read
    passed = _passed(clients, unread) if unread.any() else []
    known = {value for _, value, _ in passed}
    missing = [one for one in missing_records(clients, reads) if one.value not in known] if reads is not None else []
    concerned = np.zeros(versions.values, np.bool_)
    concerned[[*known, *(one.value for one in missing)]] = True
    acks = clients.acks_of(concerned) if passed or missing else {}
    offsets = np.full(versions.values, UNKNOWN, np.int64)
    told = versions.sightings[concerned[versions.value[versions.sightings]]]
    offsets[versions.value[told]] = versions.offset[told]
    found: dict[str, list[LostValue]] = {}
    for number, offset, read, until in [
        *((value, offset, None, NEVER) for _, value, offset in passed),
        *((one.value, int(offsets[one.value]), one.read, one.gone_us) for one in missing),
    ]:
        row = int(versions.a_row_of[number])
        key, value = columns.keys[versions.key[row]], versions.value_of(row)
        ack = acks[number][1] if number in acks else None
        one = LostValue(number, value, offset if offset > UNKNOWN else None, read, ack)
        gone = clients.may_be_deleted(key, one.offset, ack, until) if deleted is None else value in deleted(key)
        if not gone:
            found.setdefault(key, []).append(one)
    return dict(sorted(found.items()))


def _passed(clients: Clients, unread: Bits) -> list[tuple[str, int, int]]:
    """The unread values that an ok poll read beyond, as ``(key, id, last offset)``, by key and offset."""
    versions = clients.versions
    first, last = versions.first_and_last
    read = np.flatnonzero(versions.read_ok)
    bound = np.full(len(clients.columns.keys), -1, np.int64)
    np.maximum.at(bound, versions.key[versions.a_row_of[read]], first[read])
    rows = versions.sightings[unread[versions.value[versions.sightings]]]
    position = last[versions.value[rows]]
    rows = rows[(position >= 0) & (position <= bound[versions.key[rows]])]
    found = []
    for key, of_key in by_key(versions, rows):
        offsets: dict[int, int] = {}
        for value, offset in zip(versions.value[of_key].tolist(), versions.offset[of_key].tolist(), strict=True):
            offsets[value] = max(offsets.get(value, offset), offset)
        found += [(key, value, offset) for value, offset in sorted(offsets.items(), key=lambda one: (one[1], one[0]))]
    return found


def lost_writes(
    clients: Clients, lost: Mapping[str, list[LostValue]], judge: Callable[[str, LostValue], Judgement]
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
        told: list[Anomaly] = []
        untold: Counter[Judgement] = Counter()
        in_words: Counter[str] = Counter()
        for one in values:
            judgement = judge(key, one)
            in_words[judgement.verdict] += one.read is not None
            if one.read is not None and in_words[judgement.verdict] > MOST_PER_KEY:
                untold[judgement] += 1
            else:
                told.append(_anomaly(clients, key, one, reads.get(key, _NONE), judgement))
        anomalies += shortened(told, untold)
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
    versions, ack = clients.versions, lost.ack
    evidence: dict[str, Any] = {
        "value": lost.value,
        "offset": lost.offset,
        "ack_time": ack.time if ack else None,
        "ack_process": ack.process if ack else None,
    }
    seen = reads[versions.value[reads] == lost.number] if lost.read is not None else _NONE
    told = "sent together with a record that was read"
    if ack:
        told = f"acknowledged to {ack.process} at {seconds(ack.time)}"
    elif len(seen):
        told = "sent without a clear answer"
    fate = "was never read, although"
    if len(seen):
        last = versions.sighting(int(seen[-1]))
        fate = f"was read by {last.process} at {seconds(last.time)} and is gone:"
        evidence["last_read"] = {"time": last.time, "process": last.process}
    if lost.read is not None:
        time = lost.read.ended
        because = f"{lost.read.process} had read all of {key} by {seconds(time)}"
        because += " and did not get it" if len(seen) else ""
        evidence["final_read"] = lost.read.told()
    else:
        passed = _read_beyond(clients, reads, lost.offset or 0, ack)
        time = max(passed.time, ack.time) if ack else passed.time  # nothing is lost before it is there
        because = f"{passed.process} read record {passed.value} at offset {passed.offset} at {seconds(passed.time)}"
        evidence["read_beyond"] = {
            "time": passed.time,
            "process": passed.process,
            "offset": passed.offset,
            "value": passed.value,
        }
    place = "" if lost.offset is None else f" at offset {lost.offset}"
    message = f"Record {lost.value} of {key}{place} ({told}) {fate} {because}."
    return Anomaly(NAME, judgement.verdict, time, key, message, judgement.clause, judgement.breaks, evidence)
