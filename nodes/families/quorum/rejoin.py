"""How a server that finds a leader makes its log fit: the rules of the seed's page, one class each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tidemark.nodes.families.voting.log_view import conflict_with

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch, Log


class RejoinRule(ABC):
    """A rule.

    Attributes:
        name: as it is typed. says: one sentence about it.
    """

    name: str
    says: str

    @abstractmethod
    def keep(self, own_hw: int, leaders_hw: int, leo: int) -> int:
        """Up to where a server keeps its log when it has the leader's answer."""

    def begin(self, _own_hw: int, leo: int) -> int:
        """From where on the leader is to send entries, after the cut."""
        return leo

    def conflict(self, _log: Log, _batch: Batch) -> int | None:
        """The offset from which on a batch that was sent contradicts the log."""
        return None


class LeadersMark(RejoinRule):
    """The page's first: it "explicitly asks for the current high-water mark, truncates its log to high-water mark"."""

    name = "leader"
    says = "A server that finds a new leader cuts its log to the leader's high-water mark, and gets everything beyond from it."

    def keep(self, _own_hw: int, leaders_hw: int, leo: int) -> int:
        """No further than what the leader knows to be committed."""
        return min(leaders_hw, leo)


class OwnMark(RejoinRule):
    """The same with what the server itself knows, after a restart from its checkpoint: Kafka's rule before KIP-101."""

    name = "own"
    says = "A server that finds a new leader cuts its log to its own high-water mark, after a restart the one of its checkpoint."

    def keep(self, own_hw: int, _leaders_hw: int, leo: int) -> int:
        """No further than what it knew to be committed."""
        return min(own_hw, leo)


class Conflict(RejoinRule):
    """The page's ``maybeTruncate``: the leader sends what lies beyond the server's high-water mark, and it compares."""

    name = "conflict"
    says = (
        "A server that finds a new leader keeps its log; it is sent everything beyond its own high-water mark, and cuts from the "
        "first entry on that has another generation than the one that was sent (maybeTruncate)."
    )

    def keep(self, _own_hw: int, _leaders_hw: int, leo: int) -> int:
        """All of it."""
        return leo

    def begin(self, own_hw: int, _leo: int) -> int:
        """What is committed needs no comparison."""
        return own_hw

    def conflict(self, log: Log, batch: Batch) -> int | None:
        """Same index, another generation."""
        return conflict_with(log, batch)


RULES: dict[str, RejoinRule] = {rule.name: rule for rule in (LeadersMark(), OwnMark(), Conflict())}
