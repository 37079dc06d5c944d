"""The high-water mark as the seed's page has it, and each of its repairs as a switch.

quorum-hwm                          the page, word by word
quorum-hwm+majority-index           with the index that a majority has, also of an even number of servers
quorum-hwm+own-generation           without counting entries of older generations
quorum-hwm+rejoin=conflict          with the page's maybeTruncate instead of a cut to the high-water mark
quorum-hwm+rejoin=own               with a cut to the server's own high-water mark
quorum-hwm+rejoin=conflict+compared followers report what they have compared, not the last index they have
quorum-hwm+repaired                 all repairs at once
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.nodes.core.switches import Choice, choice, switch
from tidemark.nodes.families.quorum.rejoin import LEADERS_MARK, RULES, RejoinRule
from tidemark.nodes.families.voting.variant import VotingVariant

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class QuorumVariant(VotingVariant):
    """Which of the page's rules, and which repairs."""

    majority_index: bool = switch(
        "high-water mark",
        "The high-water mark is the log end that a majority has: of n log ends in order the one at (n − 1) / 2.",
        "The high-water mark is serverLogIndexes.get(noOfServers / 2) of the log ends in order: of an even number of servers the "
        "one that only half of them have.",
        turns_on="majority-index",
        default=False,
    )
    own_generation: bool = switch(
        "older generations (Raft, 5.4.2)",
        "A leader counts servers only for entries of its own generation, and begins with one that says nothing; what lies before "
        "is committed with it.",
        "A leader counts servers for entries of any generation.",
        turns_on="own-generation",
        default=False,
    )
    compared: bool = switch(
        "what a follower reports",
        "A follower reports up to where it has what this leader sent.",
        "A follower reports its last index (wal.getLastLogIndex()), whoever wrote what lies there.",
        turns_on="compared",
        default=False,
    )
    rejoin: str = choice(
        Choice(
            "rejoining",
            {rule.name: rule.says for rule in RULES.values()},
            {f"rejoin={name}": name for name in RULES},
        ),
        "leader",
    )

    @property
    def rule(self) -> RejoinRule:
        """How a server that rejoins mends its log."""
        return RULES[self.rejoin]

    @property
    def cuts_committed(self) -> bool:
        """Whether a server that rejoins may cut what it knows to be committed, as its leader does not know that yet."""
        return self.rule is LEADERS_MARK

    @property
    def begins_with_no_op(self) -> bool:
        """Else entries of older generations would wait for the next client."""
        return self.own_generation


PRESETS = {"quorum-hwm": QuorumVariant("quorum-hwm")}
REPAIRED: Mapping[str, bool | str] = {
    "majority_index": True,
    "own_generation": True,
    "compared": True,
    "rejoin": "conflict",
}
