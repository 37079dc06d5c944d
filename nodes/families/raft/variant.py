"""Raft, and mutants of it that tests must find.

raft                      as the paper has it
raft+pre-vote             who would stand for election asks first (dissertation, 9.6)
raft+lease-reads          a leader serves reads only under a lease (dissertation, 6.4.1)
raft+membership-change    servers come and go, one at a time (dissertation, 4)
raft+commit-any-term      a mutant: entries of older terms are counted (the paper's figure 8)
raft+vote-for-anyone      a mutant: no up-to-date check
raft+forget-votes         a mutant: votes are forgotten over a crash
raft+no-sync              a mutant: nothing is fsynced
raft+lease-reads+lease-never-ends
                          a mutant: a leader that had a lease goes on serving reads
raft+membership-change+change-at-once
                          a mutant: a leader changes its group before it has committed an entry of its own term
"""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.nodes.core.switches import switch
from tidemark.nodes.families.voting.variant import VotingVariant


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
    pre_vote: bool = switch(
        "pre-vote (Ongaro's dissertation, 9.6 and 6.2)",
        "A server that hears no leader asks first, and stands for election only if a majority would vote for it and hears no "
        "leader either; a leader that a majority has not answered for two session time-outs resigns.",
        "A server that hears no leader stands for election in a new term at once.",
        turns_on="pre-vote",
        default=False,
    )
    lease_reads: bool = switch(
        "reads (dissertation, 6.4.1)",
        "A leader serves reads only while it has a lease: a session time-out from the sending of what a majority has answered, "
        "once an entry of its own term is committed; who hears a leader votes for nobody, unless that has given its lease up.",
        "Whoever leads in its own eyes serves reads.",
        turns_on="lease-reads",
        default=False,
    )
    lease_ends: bool = switch(
        "end of a lease",
        "A lease ends when its time is over.",
        "A leader that has had a lease goes on serving reads for as long as it leads in its own eyes.",
        turns_off="lease-never-ends",
        default=True,
    )

    membership_change: bool = switch(
        "members (dissertation, 4.1 and 4.2)",
        "An operator's reassignment is carried out by whoever leads, one server at a time, by entries of the log: servers that "
        "come are sent the log before they vote, then those that go are taken away; a configuration counts from when it is in a "
        "log.",
        "The members of a group never change.",
        turns_on="membership-change",
        default=False,
    )
    own_entry_first: bool = switch(
        "when a change begins (raft-dev, 10 July 2015)",
        "A leader changes the members only once an entry of its own term is committed.",
        "A leader changes the members as soon as it leads.",
        turns_off="change-at-once",
        default=True,
    )

    @property
    def linearizable_reads(self) -> bool:
        """Whether a read is promised to show all that was acknowledged or read before."""
        return self.lease_reads

    @property
    def begins_with_no_op(self) -> bool:
        """Raft, 8."""
        return self.own_term_only


PRESETS = {"raft": RaftVariant("raft")}
