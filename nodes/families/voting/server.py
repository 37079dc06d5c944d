"""A server: the process whose replicas elect their leaders by majority votes, each partition for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import Halt, MarkCleanShutdown, Send, SetTimer, WriteHighWatermarks
from tidemark.nodes.core.events import ShutdownRequested, Started, TimerFired
from tidemark.nodes.core.messages import (
    NOT_LEADER,
    ConsumeRequest,
    ConsumeResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from tidemark.nodes.families.voting.host import Seat
from tidemark.nodes.families.voting.member import NOBODY
from tidemark.nodes.families.voting.messages import StandForElection, VoteRequest, VoteResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.families.voting.member import Member

COMMON = {
    ProduceRequest: "on_produce",
    ConsumeRequest: "on_consume",
    VoteRequest: "on_vote_request",
    VoteResponse: "on_vote",
    StandForElection: "on_stand",
}
"""Message → the method of a member that takes it."""


class Server:
    """The state machine of one process, from start to halt; a restart is a new object with what recovery found.

    Args:
        node_id: 1, 2, 3 …
        incarnation: counts this server's starts.
        variant: of the family.
        settings: the cluster's.
        recovered: what its disk gave back.
        assignment: partition → its replicas at the beginning.
        member: the family's replica.
    """

    def __init__(
        self,
        node_id: int,
        incarnation: int,
        variant: Any,  # noqa: ANN401 (of the family)
        settings: Settings,
        recovered: Recovered,
        assignment: Mapping[str, tuple[int, ...]],
        member: type[Member],
    ) -> None:
        """Set up the replicas; nothing happens before ``Started``."""
        self.node_id = node_id
        self.incarnation = incarnation
        self.variant = variant
        self.settings = settings
        self.clock_drift_ppm = 0
        self.out: list[Action] = []
        self.replicas = {
            name: member(Seat(self, name, replicas, recovered))
            for name, replicas in assignment.items()
            if node_id in replicas or member.everywhere
        }
        self._steps = {**COMMON, **member.steps}
        self._next_tick = SetTimer(settings.tick_us, TimerFired("tick"))
        self._checkpoint_due = 0

    def step(self, now_us: int, event: Any) -> list[Action]:  # noqa: ANN401 (a message or one of tidemark.nodes.core.events)
        """Take one event; what to do about it, in order. The list is used again by the next step."""
        self.out.clear()
        kind = type(event)
        name = self._steps.get(kind)
        if name is not None:
            replica = self.replicas.get(event.partition)
            if replica is None:
                self._refuse(event)
            else:
                getattr(replica, name)(now_us, event)
        elif kind is TimerFired:
            self._tick(now_us)
        elif kind is MetadataRequest:
            leaders = {partition: r.leader for partition, r in self.replicas.items() if r.leader != NOBODY}
            self.out.append(Send(event.source, MetadataResponse(self.node_id, event.correlation, leaders)))
        elif kind is Started:
            self._checkpoint_due = now_us + self.settings.hw_checkpoint_us
            for replica in self.replicas.values():
                replica.start(now_us)
            self._tick(now_us)
        elif kind is ShutdownRequested:
            self._stop(now_us)
        return self.out

    def _refuse(self, m: Any) -> None:  # noqa: ANN401 (any request)
        """This server has no such replica."""
        if isinstance(m, ProduceRequest):
            self.out.append(Send(m.source, ProduceResponse(self.node_id, m.partition, m.correlation, -1, NOT_LEADER)))
        elif isinstance(m, ConsumeRequest):
            self.out.append(
                Send(m.source, ConsumeResponse(self.node_id, m.partition, m.correlation, [], 0, NOT_LEADER))
            )

    def _tick(self, now: int) -> None:
        for replica in self.replicas.values():
            replica.tick(now)
        if now >= self._checkpoint_due:
            self._checkpoint_due = now + self.settings.hw_checkpoint_us
            self._checkpoint()
        self.out.append(self._next_tick)

    def _checkpoint(self) -> None:
        self.out.append(WriteHighWatermarks({name: replica.hw for name, replica in self.replicas.items()}))

    def _stop(self, now: int) -> None:
        """Leadership is not handed over: the others find out by their time-outs."""
        for replica in self.replicas.values():
            replica.stop(now)
        self._checkpoint()
        self.out.append(MarkCleanShutdown(-1))
        self.out.append(Halt("clean"))
