"""What several controllers have traced of one metadata log, as the decisions of one controller, node 0.

Each traces what is committed, whoever was the active one, so most decisions are told three times. That an election was an
operator's wish only the one that was asked can tell. The time is the earliest that anybody told: the active controller's own node
saw the record first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Elect, Ordered
from tidemark.nodes.admin.trace_file import OF_ITS_OWN_TIME, QUORUM_DECIDED
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.checkers.history.trace_events import TraceEvent

HOW = Elect.place("how")
ASKED_FOR = ("preferred", "forced")


def told_once(events: Mapping[int, list[TraceEvent]]) -> tuple[dict[int, list[TraceEvent]], list[str]]:
    """All nodes' events, with every decision once, and as node 0's.

    Returns:
        Node → its events; and, as sentences, where controllers contradict each other about what is committed.
    """
    told: dict[tuple[int, int], list[TraceEvent]] = {}
    orders: list[TraceEvent] = []
    for event in (event for of_node in events.values() for event in of_node):
        if event[KIND] == QUORUM_DECIDED:
            time, node, _, partition, offset, place, kind, fields = event
            told.setdefault((offset, place), []).append((time, node, kind, partition, *fields))
        elif event[KIND] in OF_ITS_OWN_TIME:
            orders.append((event[TIME], CONTROLLER, Ordered.kind, *event[PARTITION:]))
    doubts: list[str] = []
    decided: list[TraceEvent] = []
    latest = -1 << 62
    for (offset, _), versions in sorted(told.items()):
        chosen = next((one for one in versions if one[KIND] == Elect.kind and one[HOW] in ASKED_FOR), versions[0])
        differing = next((one for one in versions if _said(one) != _said(chosen)), None)
        if differing is not None:
            nodes = f"nodes {chosen[NODE]} and {differing[NODE]}"
            doubts.append(f"the controllers of {nodes} told different decisions at offset {offset} of the metadata log")
        latest = max(latest, min(one[TIME] for one in versions))
        decided.append((latest, CONTROLLER, *chosen[KIND:]))
    kept = {node: [one for one in of_node if one[KIND] not in OF_ITS_OWN_TIME] for node, of_node in events.items()}
    kept[CONTROLLER] = sorted([*kept.get(CONTROLLER, ()), *orders, *decided], key=lambda event: event[TIME])
    return kept, doubts


def _said(event: TraceEvent) -> TraceEvent:
    """What all must agree in: not why an election was held, and whether that was clean, which an order decides, too."""
    return event[KIND:HOW] if event[KIND] == Elect.kind else event[KIND:]
