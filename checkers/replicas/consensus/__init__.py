"""What must hold where a majority decides, and there is no ISR: Raft's invariants (Ongaro and Ousterhout, 2014, figure 3).

*Election safety* is `two-leaders`, *leader completeness* has the same name here (`leader-completeness`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.checkers.replicas.consensus.double_vote import double_votes
from tidemark.checkers.replicas.consensus.entry_matching import EntryMatching
from tidemark.checkers.replicas.consensus.leader_append_only import LeaderAppendOnly
from tidemark.checkers.replicas.consensus.lost_disks import LostDisks
from tidemark.checkers.replicas.consensus.state_machine_safety import StateMachineSafety
from tidemark.checkers.replicas.consensus.unsafe_commit import UnsafeCommit

Invariant = LeaderAppendOnly | EntryMatching | StateMachineSafety | UnsafeCommit


def invariants(
    trace: Sequence[TraceEvent], members: Mapping[str, Sequence[int]], *, votes: bool = True
) -> tuple[Invariant, ...]:
    """The checkers that go through a trace; `members` are the servers of each partition. Where these do not elect their leaders by
    `votes` for logs, nobody's log makes it electable.
    """
    always = LeaderAppendOnly(trace), EntryMatching(), StateMachineSafety()
    return (*always, UnsafeCommit(members)) if votes else always


__all__ = [
    "EntryMatching",
    "LeaderAppendOnly",
    "LostDisks",
    "StateMachineSafety",
    "UnsafeCommit",
    "double_votes",
    "invariants",
]
