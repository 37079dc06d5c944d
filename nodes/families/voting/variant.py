"""What the variants of families without Kafka's leader epochs have in common, and those of families that vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tidemark.nodes.core.recovery import RecoveryRules
from tidemark.nodes.core.switches import switch


@dataclass(frozen=True, slots=True)
class EpochlessVariant:
    """Each entry has its generation, or its ledger; immutable, comparable, and named so that it can be typed."""

    promise: ClassVar[str]
    """What counts as lost, of those in docs/anomalies.md."""
    has_epoch_cache: ClassVar[bool] = False
    recovery: ClassVar[RecoveryRules] = RecoveryRules()
    """As of any log."""

    name: str

    @property
    def contract(self) -> str:
        """The promise it makes."""
        return self.promise

    @property
    def judged_by(self) -> str:
        """The same, in words."""
        return self.promise


@dataclass(frozen=True, slots=True)
class VotingVariant(EpochlessVariant):
    """How servers vote and write."""

    promise = "majority"
    up_to_date_votes: bool = switch(
        "votes (Raft, 5.4.1)",
        "A server votes only for a candidate whose log is at least as up to date as its own: a higher last generation, or the same "
        "and no shorter a log.",
        "A server votes for the first candidate of a generation that asks, whatever its log.",
        turns_off="vote-for-anyone",
        default=True,
    )
    remembers_votes: bool = switch(
        "votes over a crash",
        "Generation and vote are on disk before the vote is given.",
        "The generation is on disk, the vote is not: after a crash a server may vote again in the same generation.",
        turns_off="forget-votes",
        default=True,
    )
    syncs: bool = switch(
        "fsync",
        "What was appended is fsynced before anybody counts it.",
        "Nothing is fsynced: what was counted may be gone after a power loss.",
        turns_off="no-sync",
        default=True,
    )

    @property
    def begins_with_no_op(self) -> bool:
        """Whether a leader that counts only entries of its own generation begins with one (Raft, 8)."""
        return False
