"""Whether a run's clients can have seen an anomaly at all: a look that is cheap, and says no only where there is nothing.

Most runs of a simulator show their clients nothing, and are small: to see that, sets are quicker than columns. What an anomaly is,
is not said here. Whoever gets a no here may look as closely as they like, and will find none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from tidemark.checkers.history.client_view import DELETE, ClientView, KeyView
from tidemark.checkers.history.history import Op, Value

_PLAIN = frozenset({int, str})
_KNOWN = ("send", "poll", "assign", DELETE)


def nothing_to_find(view: ClientView, deleted: Mapping[str, AbstractSet[Value]] | None = None) -> bool:
    """Whether every record was read that must have committed, nothing else was, each is at one offset and each offset has one, and
    every process went from offset to offset without a gap, and nobody wrote between another's records, or before what was over; and
    whether each final read has all from the first record to the last that was not deleted on purpose.
    """
    if not view.polled_on or any(kind not in _KNOWN for kind in view.invoked | view.succeeded):
        return False
    offsets: defaultdict[str, dict[Value, int]] = defaultdict(dict)
    for key, seen in view.keys.items():
        placed = _placed(seen)
        if placed is None:
            return False
        if len(placed) > len(seen.acked) and not _sent(placed.keys() - seen.acked.keys(), key, view):
            return False
        offsets[key] = placed
    if not _shown(view, offsets, deleted or {}):
        return False
    for send in view.info_sends:
        read = [value in offsets[key] for key, value in send]
        if any(read) and not all(read):
            return False
    return _sent_on(view.ended_sends, offsets) and _in_order(view.ops, offsets)


def _placed(seen: KeyView) -> dict[Value, int] | None:
    """The offsets of a key's records: those that were acknowledged, and all that were read; None if they are not in order."""
    reads = seen.ok_reads | seen.other_reads if seen.other_reads else seen.ok_reads
    by_offset = dict(reads)
    by_value = dict(zip(by_offset.values(), by_offset, strict=True))
    if not _PLAIN.issuperset(map(type, by_value)):  # in a set true is 1, and 1.0 as well
        return None
    if len(by_value) == len(reads) and seen.placed <= reads and seen.acked.keys() <= by_value.keys():
        return by_value if seen.failed.isdisjoint(by_value) and None not in by_offset else None
    return None


def _shown(view: ClientView, offsets: dict[str, dict[Value, int]], deleted: Mapping[str, AbstractSet[Value]]) -> bool:
    """Whether each key that has records has a final read, and each of these goes from the first record there is to the last; a
    final read that returned nothing is looked at closely.
    """
    polls = view.final_polls
    if not polls:
        return True
    named = {(process, key) for process, keys in polls.items() for key in keys}
    if named != view.final_reads.keys() or not all(polls.values()) or (len(polls) > 1 and "assign" in view.succeeded):
        return False
    told = {key for _, key in view.final_reads}
    if any(placed and key not in told for key, placed in offsets.items()):
        return False
    for (_, key), (first, last) in view.final_reads.items():
        placed = offsets[key]
        if last != max(placed.values()):
            return False
        if first != min(placed.values()):
            gone = deleted.get(key, frozenset())
            if any(offset < first and value not in gone for value, offset in placed.items()):
                return False
    return True


def _sent(values: AbstractSet[Value], key: str, view: ClientView) -> bool:
    """Whether these, which nobody has acknowledged, were sent to a key at all: mostly by sends whose outcome is unknown."""
    if values <= {value for send in view.info_sends for name, value in send if name == key}:
        return True
    sends = (micro for op in view.ops if op.f in ("send", "txn") for micro in op.value or () if micro[0] != "poll")
    return values <= {what[1] if isinstance(what, tuple) else what for _, name, what in sends if name == key}


def _sent_on(sends: Iterable[Op], offsets: dict[str, dict[Value, int]]) -> bool:
    """Whether each process's sends went on: of one operation without a gap, from one to the next anywhere beyond."""
    sent: dict[str, dict[str, int]] = {}
    for op in sends:
        at = sent.setdefault(op.process, {})
        last, following = "", 0
        for _, key, what in op.value:
            offset = offsets[key].get(what[1] if type(what) is tuple else what)
            if offset is None:
                continue
            if offset != following if key == last else offset <= at.get(key, -1):
                return False
            at[key] = offset
            last, following = key, offset + 1
    return True


def _in_order(ops: Iterable[Op], offsets: dict[str, dict[Value, int]]) -> bool:
    """Whether each send's records lie together in one key, beyond all that was acknowledged or read when it began: then nothing is
    on a cycle.
    """
    over: dict[str, int] = {}
    for op in ops:
        _, _, type_, f, value, _, acks, _ = op
        if not value:
            continue
        if f == "send":
            if type_ == "invoke":
                key = value[0][1]
                before = over.get(key, -1)
                following = 0
                for _, one, what in value:
                    offset = offsets[one].get(what[1] if type(what) is tuple else what)
                    if offset is None:
                        continue
                    if one != key or (offset != following if following else offset <= before):
                        return False
                    following = offset + 1
            elif type_ == "ok" and acks != "0":
                _, key, what = value[-1]
                offset = offsets[key].get(what[1] if type(what) is tuple else what)
                if offset is not None and offset > over.get(key, -1):
                    over[key] = offset
        elif f == "poll" and type_ == "ok":
            for _, answer in value:
                for key, records in answer.items():
                    if records and records[-1][0] > over.get(key, -1):
                        over[key] = records[-1][0]
    return True
