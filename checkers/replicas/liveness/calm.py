"""When all is calm: every broker is well, so is the controller, and of a partition one broker leads and all its others follow it.

Then clients find the leader whomever they ask, and nothing stands in the way of what they ask for. Who leads is what the replicas
say of themselves, so this holds with a controller or without one. A partition whose replicas change is not calm any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Follow, Lead, TraceEvent
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell

_ENDS = frozenset({"stop", "start"})
_MOVES = frozenset({"reassign", "members"})

EVERYWHERE = ""
"""Stands for all partitions at once."""
View = tuple[int, int]
"""Whose word a replica goes by: the leader's, itself perhaps, and the epoch."""


def all_well(state: WhoIsWell) -> list[str]:
    """Of a moment, for :class:`Spans`: something if every broker is well, and the controller."""
    return ["all"] if state.controller_well() and state.well.issuperset(state.brokers) else []


def calm_spans(
    points: Sequence[TraceEvent], well: Spans[str], replicas: Mapping[str, Sequence[int]], end: int
) -> dict[str, list[Span]]:
    """The spans of each partition, and of `EVERYWHERE`, by the turning points of a trace and the spans in which all are well."""
    agreed = Spans[str]()
    views: dict[str, dict[int, View]] = {partition: {} for partition in replicas}
    moved: set[str] = set()
    now: set[str] = set()
    for event in points:
        kind, node = event[KIND], event[NODE]
        of_partition = views.get(event[PARTITION])
        if kind in _ENDS:
            for one in views.values():
                one.pop(node, None)
        elif of_partition is None:
            continue
        elif kind == "lead":
            of_partition[node] = node, Lead(event).leader_epoch
        elif kind == "follow":
            follow = Follow(event)
            of_partition[node] = follow.leader, follow.leader_epoch
        elif kind in _MOVES:
            moved.add(event[PARTITION])
        else:
            continue
        for partition in views if of_partition is None else (event[PARTITION],):
            if partition not in moved and _agree(views[partition], replicas[partition]):
                now.add(partition)
            else:
                now.discard(partition)
        agreed.now([*now, *([EVERYWHERE] if now.issuperset(replicas) else ())], event[TIME])
    agreed.end(end)
    found: dict[str, list[Span]] = {partition: [] for partition in (*replicas, EVERYWHERE)}
    for partition, span in agreed.closed:
        found[partition] += _common(span, [one for _, one in well.closed])
    return found


def _agree(views: Mapping[int, View], replicas: Sequence[int]) -> bool:
    """Whether one leads, and all others follow it."""
    told = {views.get(broker) for broker in replicas}
    leader = next(iter(told)) if len(told) == 1 else None
    return leader is not None and views.get(leader[0]) == leader


def _common(span: Span, others: Sequence[Span]) -> Iterator[Span]:
    for other in others:
        both = Span(max(span.begin, other.begin), min(span.end, other.end))
        if both.begin < both.end:
            yield both
