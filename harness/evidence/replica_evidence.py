"""What the replicas' own evidence comes to: the shape in which traces and logs reach whoever looks through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.checkers.history.trace_events import TraceEvent

Segment = list[tuple[int, int, tuple[int, ...]]]
"""What ``tidemark.nodes.formats.read_log.read_segment`` gives: (base offset, leader epoch, values)."""


MOST_DOUBTS = 10
"""So many reasons not to rely on evidence are told; one is enough."""


def doubts_together(*found: Mapping[int, list[str]]) -> dict[int, list[str]]:
    """Doubts about nodes put together, node by node."""
    nodes = sorted({node for doubts in found for node, said in doubts.items() if said})
    return {node: [words for doubts in found for words in doubts.get(node, ())][:MOST_DOUBTS] for node in nodes}


def doubts_in_meta(not_understood: list[str], doubted: Mapping[int, list[str]]) -> dict[str, Any]:
    """Both kinds of doubts as entries of a history's meta line (docs/history.md)."""
    found: dict[str, Any] = {"not_understood": not_understood} if not_understood else {}
    if doubted:
        found["doubted_nodes"] = {str(node): said for node, said in doubted.items()}
    return found


@dataclass(slots=True)
class ReplicaEvidence:
    """All nodes' events and logs.

    Attributes:
        events: node → its trace events, in order.
        segments: node → partition → what its log holds at the end.
        not_understood: why none of the evidence can be relied on, as sentences; empty if it can.
        doubted: node → why that node's evidence cannot be relied on, as sentences; others' can.
        down: nodes without a process when their files were fetched.
    """

    events: Mapping[int, list[TraceEvent]]
    segments: Mapping[int, Mapping[str, Segment]]
    not_understood: list[str] = field(default_factory=list)
    doubted: Mapping[int, list[str]] = field(default_factory=dict)
    down: frozenset[int] = frozenset()
