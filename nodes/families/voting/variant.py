"""What the variants of voting families have in common."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.nodes.core.recovery import RecoveryRules
from tidemark.nodes.families.switches import switch


@dataclass(frozen=True, slots=True)
class VotingVariant:
    """How servers vote and write; immutable, comparable, and named so that it can be typed."""

    name: str
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
    def contract(self) -> str:
        """What a majority has stays (docs/anomalies.md)."""
        return "majority"

    @property
    def has_epoch_cache(self) -> bool:
        """Each entry has its generation; there is no cache of where they begin."""
        return False

    @property
    def recovery(self) -> RecoveryRules:
        """As any log."""
        return RecoveryRules()

    @property
    def begins_with_no_op(self) -> bool:
        """Whether a leader that counts only entries of its own generation begins with one (Raft, 8)."""
        return False
