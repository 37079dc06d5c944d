"""How a server that finds a leader makes its log fit: the rules of the seed's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidemark.nodes.families.voting.log_view import conflict_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.core.log import Batch, Log


class RejoinRule(NamedTuple):
    """A rule.

    Attributes:
        name: as it is typed. says: one sentence about it.
        keep: up to where a server keeps its log when it has the leader's answer: of its own high-water mark, the leader's, and its
            log's end.
        begin: from where on the leader is to send entries, after the cut: of its own high-water mark, and its log's end.
        conflict: the offset from which on a batch that was sent contradicts the log.
    """

    name: str
    says: str
    keep: Callable[[int, int, int], int]
    begin: Callable[[int, int], int] = lambda _own_hw, leo: leo
    conflict: Callable[[Log, Batch], int | None] = lambda _log, _batch: None


LEADERS_MARK = RejoinRule(
    "leader",
    "A server that finds a new leader cuts its log to the leader's high-water mark, and gets everything beyond from it.",
    keep=lambda _own_hw, leaders_hw, leo: min(leaders_hw, leo),
)
"""The page's first: it "explicitly asks for the current high-water mark, truncates its log to high-water mark"."""

OWN_MARK = RejoinRule(
    "own",
    "A server that finds a new leader cuts its log to its own high-water mark, after a restart the one of its checkpoint.",
    keep=lambda own_hw, _leaders_hw, leo: min(own_hw, leo),
)
"""The same with what the server itself knows, after a restart from its checkpoint: Kafka's rule before KIP-101."""

CONFLICT = RejoinRule(
    "conflict",
    "A server that finds a new leader keeps its log; it is sent everything beyond its own high-water mark, and cuts from the "
    "first entry on that has another generation than the one that was sent (maybeTruncate).",
    keep=lambda _own_hw, _leaders_hw, leo: leo,
    begin=lambda own_hw, _leo: own_hw,
    conflict=conflict_with,
)
"""The page's ``maybeTruncate``: the leader sends what lies beyond the server's high-water mark, and it compares."""

RULES = {rule.name: rule for rule in (LEADERS_MARK, OWN_MARK, CONFLICT)}
