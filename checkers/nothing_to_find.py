"""Whether a run's clients can have seen an anomaly at all: a look that is cheap, and says no only where there is nothing.

Most runs of a simulator show their clients nothing, and are small: to see that, sets and one pass over the operations are quicker
than columns. What an anomaly is, is not said here. Whoever gets a no here may look as closely as they like, and will find none.
"""

from __future__ import annotations

from collections.abc import Sequence

from checkers.client_view import DELETE, ClientView, KeyView
from checkers.history import Op, Value

_KNOWN = ("send", "poll", "assign", DELETE)


def nothing_to_find(view: ClientView) -> bool:
    """Whether every record was read that must have committed, nothing else was, each is at one offset and each offset has one, and
    every process went from offset to offset without a gap.
    """
    if any(kind not in _KNOWN for kind in view.invoked | view.succeeded):
        return False
    read = {key: seen.read_values() for key, seen in view.keys.items()}
    if not all(_agrees(seen, read[key]) for key, seen in view.keys.items()):
        return False
    known = {key: {value for _, value in seen.ok_reads} for key, seen in view.keys.items()}
    for send in view.info_sends:
        if any(value in known[key] for key, value in send) and not all(value in read[key] for key, value in send):
            return False
    return _without_gaps(view.ops, view)


def _agrees(seen: KeyView, read: set[Value]) -> bool:
    placed = seen.all_placed()
    return (
        seen.acked.keys() <= read
        and read <= seen.invoked
        and seen.failed.isdisjoint(read)
        and len({offset for offset, _ in placed}) == len(placed) == len({value for _, value in placed})
        and None not in {offset for offset, _ in placed}
    )


def _without_gaps(ops: Sequence[Op], view: ClientView) -> bool:
    offsets = {
        key: {value: offset for places in (seen.placed, seen.ok_reads, seen.other_reads) for offset, value in places}
        for key, seen in view.keys.items()
    }
    polled: dict[tuple[str, bool], dict[str, int]] = {}
    sent: dict[tuple[str, str], int] = {}
    for op in ops:
        _, process, kind, f, value, _, _, final = op
        if kind == "invoke":
            continue
        if f == "poll":
            if not _polls_on(value, polled.setdefault((process, final), {}), ok=kind == "ok"):
                return False
        elif f == "send":
            if not _sends_on(process, value, sent, offsets, failed=kind == "fail"):
                return False
        elif f == "assign" and kind != "fail":
            kept = set(value)
            for reader in ((process, False), (process, True)):
                if reader in polled:
                    polled[reader] = {key: offset for key, offset in polled[reader].items() if key in kept}
    return True


def _polls_on(
    value: Sequence[tuple[str, dict[str, list[tuple[int, Value]]]]] | None, at: dict[str, int], *, ok: bool
) -> bool:
    for micro in value or ():
        for key, records in micro[1].items():
            if not records:
                if ok:
                    at.pop(key, None)
                continue
            first = records[0][0]
            if at.get(key, first - 1) != first - 1:
                return False
            if len(records) > 1 and [offset for offset, _ in records] != list(range(first, first + len(records))):
                return False
            if ok:
                at[key] = records[-1][0]
    return True


def _sends_on(
    process: str,
    value: Sequence[tuple[str, str, object]],
    sent: dict[tuple[str, str], int],
    offsets: dict[str, dict[Value, int]],
    *,
    failed: bool,
) -> bool:
    """The first record of a key may be anywhere beyond the last operation's, another follows the one before it."""
    here: dict[str, int] = {}
    for _, key, what in value:
        offset = offsets[key].get(what[1] if isinstance(what, tuple) else what)
        if offset is None:
            continue
        if key in here and offset != here[key] + 1:
            return False
        if key not in here and not failed and offset <= sent.get((process, key), -1):
            return False
        here[key] = offset
    if not failed:
        for key, offset in here.items():
            sent[process, key] = offset
    return True
