"""Where the replicas' logs ended over time, whom they followed, and how far each leader's high watermark was."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeVar

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.checkers.replicas.liveness.spans import Span

_time = itemgetter(0)
_T = TypeVar("_T")


class Part(NamedTuple):
    """Whose word a replica goes by: the leader's of an epoch, itself perhaps; `taken` once it has had a good answer, or leads."""

    leader: int
    epoch: int
    taken: bool


NOBODY = Part(-1, -1, taken=False)
_EMPTY = ((-1, 0),)
"""The end of a log before anything is told of it: since before the run."""


class LogEnds:
    """All of a trace, for what stands still long enough to be looked up.

    >>> ends = LogEnds([
    ...     (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
    ...     (5, 1, "append", "t-0", 0, 0, (7, 8)),
    ...     (9, 2, "append", "t-0", 0, 0, (7, 8)),
    ... ])
    >>> ends.beyond("t-0", 2, offset=1, by=20), ends.beyond("t-0", 2, offset=2, by=20)
    (9, None)
    """

    def __init__(self, trace: Sequence[TraceEvent]) -> None:
        self._ends: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict([*_EMPTY].copy)
        self._marks: defaultdict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
        self._parts: defaultdict[tuple[str, int], list[tuple[int, Part]]] = defaultdict(list)
        ends, marks = self._ends, self._marks
        for event in trace:
            kind = event[2]
            if kind == "append":  # most events are this one or the next, and are read by place
                ends[event[3], event[1]].append((event[0], event[4] + len(event[6])))
            elif kind == "hw":
                if event[6]:
                    marks[event[3], event[1], event[5]].append((event[0], event[4]))
            else:
                self._turn(kind, event)

    def _turn(self, kind: str, event: TraceEvent) -> None:
        time, node, _, partition = event[:4]
        replica = partition, node
        match kind:
            case "truncate":
                self._end(replica, time, trace_events.Truncate(event).to)
            case "recovered":
                self._end(replica, time, trace_events.Recovered(event).leo)
            case "log-start" if trace_events.LogStart(event).how == "begin-anew":
                self._end(replica, time, trace_events.LogStart(event).start)
            case "removed":
                self._end(replica, time, 0)
                self._parts[replica].append((time, NOBODY))
            case "lead":
                lead = trace_events.Lead(event)
                self._marks[partition, node, lead.leader_epoch].append((time, lead.hw))
                self._parts[replica].append((time, Part(node, lead.leader_epoch, taken=True)))
            case "follow":
                follow = trace_events.Follow(event)
                self._parts[replica].append((time, Part(follow.leader, follow.leader_epoch, taken=False)))
            case "fetched":
                fetched = trace_events.Fetched(event)
                self._parts[replica].append((time, Part(fetched.leader, fetched.leader_epoch, taken=True)))
            case "out-of-order":
                self._parts[replica].append((time, NOBODY))
            case "start" | "stop":
                for (_, its_node), parts in self._parts.items():
                    if its_node == node:
                        parts.append((time, NOBODY))

    def _end(self, replica: tuple[str, int], time: int, end: int) -> None:
        ends = self._ends[replica]
        if ends[-1][1] != end:
            ends.append((time, end))

    def beyond(self, partition: str, node: int, offset: int, by: int) -> int | None:
        """Since when, without a break up to a time, a log has ended beyond an offset; `None` if it does not then."""
        ends = self._ends.get((partition, node), _EMPTY)
        since = None
        for time, end in reversed(ends[: bisect_right(ends, by, key=_time)]):
            if end <= offset:
                break
            since = time
        return since

    def end_at(self, partition: str, node: int, time: int) -> int:
        """Where a log ended at a time."""
        ends = self._ends.get((partition, node), _EMPTY)
        return ends[bisect_right(ends, time, key=_time) - 1][1]

    def ends_still(self, partition: str, node: int, span: Span, longer_than: int) -> Iterator[tuple[Span, int]]:
        """Within a span, when a log ended at one place for long enough, and where."""
        return _still(self._ends.get((partition, node), _EMPTY), span, longer_than)

    def marks_still(
        self, partition: str, leader: int, epoch: int, span: Span, longer_than: int
    ) -> Iterator[tuple[Span, int]]:
        """The same of a leader's high watermark."""
        return _still(self._marks.get((partition, leader, epoch), ()), span, longer_than)

    def parts(self, partition: str, node: int, span: Span) -> Iterator[tuple[Span, Part]]:
        """Within a span, whom a replica followed, or that it led, one after the other."""
        return _still(self._parts.get((partition, node), ()), span, -1)

    def caught_up(self, partition: str, node: int, leader: int, span: Span) -> int | None:
        """The first time in a span at which a log ends no earlier than its leader's."""
        times = [span.begin]
        for replica in (node, leader):
            ends = self._ends.get((partition, replica), _EMPTY)
            begin, end = (bisect_right(ends, time, key=_time) for time in span)
            times += [time for time, _ in ends[begin:end]]
        for time in sorted(times):
            if self.end_at(partition, node, time) >= self.end_at(partition, leader, time):
                return time
        return None


def _still(moves: Sequence[tuple[int, _T]], span: Span, longer_than: int) -> Iterator[tuple[Span, _T]]:
    """Between two moves, as far as that lies in a span."""
    begin, end = span
    first = max(bisect_right(moves, begin, key=_time) - 1, 0)
    times = [time for time, _ in moves[first : bisect_right(moves, end, key=_time)]]
    for place, (time, until) in enumerate(zip(times, [*times[1:], end], strict=False), first):
        if until - time > longer_than:  # of few, and most are looked at no further
            still = Span(max(time, begin), min(until, end))
            if still.length_us > longer_than:
                yield still, moves[place][1]
