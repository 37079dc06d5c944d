"""Whether a run's clients can have seen an anomaly at all: a look that is cheap, and says no only where there is nothing.

Most runs of a simulator show their clients nothing, and are small: to see that, sets are quicker than columns. What an anomaly is,
is not said here. Whoever gets a no here may look as closely as they like, and will find none.
"""

from __future__ import annotations

from collections.abc import Iterable

from checkers.client_view import DELETE, ClientView, KeyView
from checkers.history import Op, Value

_KNOWN = ("send", "poll", "assign", DELETE)


def nothing_to_find(view: ClientView) -> bool:
    """Whether every record was read that must have committed, nothing else was, each is at one offset and each offset has one, and
    every process went from offset to offset without a gap.
    """
    if not view.polled_on or any(kind not in _KNOWN for kind in view.invoked | view.succeeded):
        return False
    offsets: dict[str, dict[Value, int]] = {}
    for key, seen in view.keys.items():
        placed = _placed(seen)
        if placed is None:
            return False
        offsets[key] = placed
    for send in view.info_sends:
        read = [value in offsets[key] for key, value in send]
        if any(read) and not all(read):
            return False
    return _sent_on(view.ended_sends, offsets)


def _placed(seen: KeyView) -> dict[Value, int] | None:
    """The offsets of a key's records: those that were sent and not refused, and were read; None if there are others."""
    reads = seen.ok_reads | seen.other_reads if seen.other_reads else seen.ok_reads
    by_offset = dict(reads)
    by_value = dict(zip(by_offset.values(), by_offset, strict=True))
    if len(by_value) == len(reads) and seen.placed <= reads and seen.acked.keys() <= by_value.keys() <= seen.invoked:
        return by_value if seen.failed.isdisjoint(by_value) and None not in by_offset else None
    return None


def _sent_on(sends: Iterable[Op], offsets: dict[str, dict[Value, int]]) -> bool:
    """Whether each process's sends went on: of one operation without a gap, from one to the next anywhere beyond."""
    sent: dict[tuple[str, str], int] = {}
    for op in sends:
        process = op.process
        last = ""
        for _, key, what in op.value:
            offset = offsets[key].get(what[1] if what.__class__ is tuple else what)
            if offset is None:
                continue
            before = sent.get((process, key), -1)
            if offset <= before or (key == last and offset != before + 1):
                return False
            sent[process, key] = offset
            last = key
    return True
