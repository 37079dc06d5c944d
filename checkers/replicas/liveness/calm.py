"""When all is calm: every broker is well, so is the controller, and of a partition one broker leads and all its others follow it.

Then clients find the leader whomever they ask, and nothing stands in the way of what they ask for. Who leads is what the replicas
say of themselves, so this holds with a controller or without one. A partition whose replicas change is not calm any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Follow, Lead, TraceEvent
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell

_ENDS = frozenset({"stop", "start"})
_MOVES = frozenset({"reassign", "members"})

EVERYWHERE = ""
"""Stands for all partitions at once."""


class Calm(NamedTuple):
    """One span of it, and who leads; −1 of `EVERYWHERE`."""

    span: Span
    leader: int


View = tuple[int, int]
"""Whose word a replica goes by: the leader's, itself perhaps, and the epoch."""


def all_well(state: WhoIsWell) -> list[str]:
    """Of a moment, for :class:`Spans`: something if every broker is well, and the controller."""
    return ["all"] if state.controller_well() and state.well.issuperset(state.brokers) else []


def calm_spans(
    points: Sequence[TraceEvent], well: Spans[str], replicas: Mapping[str, Sequence[int]], end: int
) -> dict[str, list[Calm]]:
    """The spans of each partition, and of `EVERYWHERE`, by the turning points of a trace and the spans in which all are well."""
    agreed = Spans[tuple[str, View]]()
    views: dict[str, dict[int, View]] = {partition: {} for partition in replicas}
    moved: set[str] = set()
    now: dict[str, View] = {}
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
            view = _agreed(views[partition], replicas[partition])
            if view is not None and partition not in moved:
                now[partition] = view
            else:
                now.pop(partition, None)
        agreed.now([*now.items(), *([(EVERYWHERE, (-1, -1))] if len(now) == len(views) else ())], event[TIME])
    agreed.end(end)
    found: dict[str, list[Calm]] = {partition: [] for partition in (*replicas, EVERYWHERE)}
    for (partition, (leader, _)), span in agreed.closed:
        both_are = (span.common(one) for _, one in well.closed)
        found[partition] += [Calm(both, leader) for both in both_are if both.length_us > 0]
    return found


def _agreed(views: Mapping[int, View], replicas: Sequence[int]) -> View | None:
    """What all go by, if one of them leads, and all others follow it."""
    told = {views.get(broker) for broker in replicas}
    view = next(iter(told)) if len(told) == 1 else None
    return view if view is not None and views.get(view[0]) == view else None
