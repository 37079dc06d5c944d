"""Raft, and mutants of it that tests must find.

raft                      as the paper has it
raft+commit-any-term      a mutant: entries of older terms are counted (the paper's figure 8)
raft+vote-for-anyone      a mutant: no up-to-date check
raft+forget-votes         a mutant: votes are forgotten over a crash
raft+no-sync              a mutant: nothing is fsynced
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.families.voting.variant import VotingVariant, parse, switch


@dataclass(frozen=True, slots=True)
class RaftVariant(VotingVariant):
    """Which of Raft's rules hold."""

    own_term_only: bool = switch(
        "commitment (Raft, 5.4.2)",
        "A leader counts servers only for entries of its own term, and begins with one that says nothing; what lies before is "
        "committed with it.",
        "A leader counts servers for entries of any term, and so begins with none of its own.",
        turns_off="commit-any-term",
        default=True,
    )

    @property
    def begins_with_no_op(self) -> bool:
        """Raft, 8."""
        return self.own_term_only


PRESETS = {"raft": RaftVariant("raft")}


def parse_raft(text: str) -> RaftVariant:
    """The variant a person typed.

    Raises:
        VariantError: it is none.
    """
    return parse(text, PRESETS)
