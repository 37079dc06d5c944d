"""Who led, by what each node of a system said that traces nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import Seen
from tidemark.checkers.verdict.verdict import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.checkers.history.trace_events import TraceEvent

MOST = 12


def leaders_seen(trace: Iterable[TraceEvent]) -> list[Seen]:
    """When a node was first seen to lead in an epoch, for each log, in order of time."""
    first: dict[tuple[str, int, int], Seen] = {}
    for seen in Seen.among(trace):
        if seen.is_leader:
            first.setdefault((seen.partition, seen.node, seen.leader_epoch), seen)
    return sorted(first.values(), key=lambda seen: seen.time)


def in_words(leaders: list[Seen]) -> str:
    """As a sentence; empty if nobody was seen to lead.

    >>> in_words([Seen((2_000_000, 3, "seen", "t-0", True, 1, 40, 38, 3)), Seen((5_100_000, 1, "seen", "t-0", True, 3, 12, 12, 1))])
    'seen to lead: node 3 in epoch 1 (2.000000 s, log end 40), node 1 in epoch 3 (5.100000 s, log end 12)'
    """
    if not leaders:
        return ""
    several = len({seen.partition for seen in leaders}) > 1
    told = [
        f"node {seen.node} in epoch {seen.leader_epoch}{f' of {seen.partition}' if several else ''} "
        f"({seconds(seen.time)}, log end {seen.leo})"
        for seen in leaders[:MOST]
    ]
    more = f" and {len(leaders) - MOST} more" if len(leaders) > MOST else ""
    return f"seen to lead: {', '.join(told)}{more}"
