"""What the lines of a broker's log have said of one replica so far."""

from __future__ import annotations

from dataclasses import dataclass

LEADER, FOLLOWER, NO_LEADER = "leader", "follower", "no leader"


@dataclass(slots=True)
class ReplicaStatus:
    """One replica.

    Attributes:
        role: as the status of a node names it.
        leader: its id, −1 if there is none.
        leader_epoch: of its role, −1 before the first one.
        start: log start offset. leo: log end offset. hw: high watermark.
        isr, maximal: the leader's view; empty on others.
        refused: why its last step as a follower failed; empty after one that did not.
        fetched_epoch: the leader epoch in which a fetch was answered, −1 before the first.
        loaded: whether its log was read.
    """

    role: str = NO_LEADER
    leader: int = -1
    leader_epoch: int = -1
    partition_epoch: int = -1
    start: int = 0
    leo: int = 0
    hw: int = 0
    isr: tuple[int, ...] = ()
    maximal: tuple[int, ...] = ()
    refused: str = ""
    fetched_epoch: int = -1
    loaded: bool = False
