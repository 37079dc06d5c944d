"""Do the events of a broker agree with the files it left? If they do not, its lines were not understood, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.nodes.sidecar.line_events import Appended, Event, Loaded, Removed, Truncated, TruncatedFully


def disagreement(
    partition: str,
    events: Iterable[Event],
    batches: Sequence[tuple[int, int, int]],
    cache: Sequence[tuple[int, int]] = (),
    before: int | None = None,
    *,
    killed: bool = False,
) -> str | None:
    """What does not fit, as a sentence; None if all does.

    Args:
        partition: whose log it is.
        events: of one life of the broker, or of several in a row, in order.
        batches: what its log files hold after the last event: (base offset, next offset, leader epoch) of each, in order;
            an epoch of −1 for formats that have none.
        cache: entries of its ``leader-epoch-checkpoint``, (epoch, start offset), in order.
        before: where its log ended before the first event; None: not known, the first ``Loaded`` tells.
        killed: the process was killed: the files may hold an append whose line was not printed, may end before its appends if
            they were cut by a fault, and the line of a cut may have come without the cut.
    """
    end = before
    cut_to: int | None = None
    for event in events:
        if (
            not isinstance(event, Loaded | Removed | Appended | Truncated | TruncatedFully)
            or event.partition != partition
        ):
            continue
        problem, end, cut_to = _step(event, end, cut_to)
        if problem is not None:
            return problem
    if end is None:
        return None if not batches else f"{partition} has records, but no line told of its log"
    return _files(partition, end, cut_to, batches, killed=killed) or _cache(partition, batches, cache)


def _step(event: Event, end: int | None, cut_to: int | None) -> tuple[str | None, int | None, int | None]:
    """One event: what is wrong with it, where the log ends after it, and where it was cut if the end follows from a cut."""
    if isinstance(event, Loaded):
        return None, event.leo, None
    if isinstance(event, Removed):
        return None, 0, None
    if isinstance(event, TruncatedFully):
        return None, event.start, event.start
    if isinstance(event, Truncated):
        if end is not None and event.to > end:
            return f"{event.partition} was cut at {event.to}, but its lines said that it ends at {end}", end, cut_to
        return None, event.to, event.to
    if isinstance(event, Appended):
        if event.next <= event.first:
            return f"{event.partition} got offsets {event.first} to {event.next}, which is nothing", end, cut_to
        # A batch that a cut went through is gone as a whole, and comes again as a whole.
        fits = end is None or event.first == end or (cut_to is not None and event.first < cut_to)
        if not fits:
            return f"{event.partition} got offset {event.first}, but its lines said that it ends at {end}", end, cut_to
        return None, event.next, None
    return None, end, cut_to


def _files(
    partition: str, end: int, cut_to: int | None, batches: Sequence[tuple[int, int, int]], *, killed: bool
) -> str | None:
    last = 0
    for base, following, _ in batches:
        if base < last or following <= base:
            return f"the files of {partition} go from offset {last} to {base}"
        last = following
    ends_there = last == end or (cut_to is not None and last <= cut_to) or (not batches and cut_to is None and end == 0)
    if ends_there or killed:
        return None
    return f"the lines say that {partition} ends at {end}, its files end at {last}"


def _cache(partition: str, batches: Sequence[tuple[int, int, int]], cache: Sequence[tuple[int, int]]) -> str | None:
    """Every batch must lie in its epoch's range; what is below the cache's first entry was given up by retention."""
    if not cache:
        return None
    starts = dict(cache)
    for base, _, epoch in batches:
        if epoch < 0 or base < cache[0][1]:
            continue
        floor = max((e for e, start in cache if start <= base), default=-1)
        if epoch not in starts or floor != epoch:
            return f"the files of {partition} hold epoch {epoch} at offset {base}, its epoch cache says {floor}"
    return None
