"""Replication reconciliation, and what may be added to it or taken away.

reconciliation                    the page
reconciliation+own-generation     without counting entries of older generations (Raft, 5.4.2)
reconciliation+one-round          a leader compares a follower's first request only
"""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.nodes.core.switches import switch
from tidemark.nodes.families.voting.variant import VotingVariant


@dataclass(frozen=True, slots=True)
class ReconciliationVariant(VotingVariant):
    """Which of the rules hold."""

    own_generation: bool = switch(
        "older generations (Raft, 5.4.2)",
        "A leader counts servers only for entries of its own generation, and begins with one that says nothing; what lies before "
        "is committed with it.",
        "A leader counts servers for entries of any generation.",
        turns_on="own-generation",
        default=False,
    )
    one_round: bool = switch(
        "rounds",
        "A leader compares only the first request of a follower; once that has had an answer, it is sent what it asks for.",
        "A leader compares every request with its log, so that a follower goes back one of its own generations a round until one "
        "is the leader's.",
        turns_on="one-round",
        default=False,
    )

    @property
    def begins_with_no_op(self) -> bool:
        """Else entries of older generations would wait for the next client."""
        return self.own_generation


PRESETS = {"reconciliation": ReconciliationVariant("reconciliation")}
