"""What the replicas' own evidence comes to: the shape in which traces and logs reach whoever looks through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checkers.history import TraceEvent

Segment = list[tuple[int, int, tuple[int, ...]]]
"""What ``nodes.formats.read_log.read_segment`` gives: (base offset, leader epoch, values)."""


MOST_DOUBTS = 10
"""So many reasons not to rely on evidence are told; one is enough."""


@dataclass(slots=True)
class ReplicaEvidence:
    """All nodes' events and logs.

    Attributes:
        events: node → its trace events, in order.
        segments: node → partition → what its log holds at the end.
        not_understood: why the evidence cannot be relied on, as sentences; empty if it can.
        down: nodes without a process when their files were fetched.
    """

    events: Mapping[int, list[TraceEvent]]
    segments: Mapping[int, Mapping[str, Segment]]
    not_understood: list[str] = field(default_factory=list)
    down: frozenset[int] = frozenset()
