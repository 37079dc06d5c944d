"""The operator of groups whose members change: asks whoever leads, again and again, until the members are those that are wanted.

Who is paused does not answer: it may still carry out what it was asked before, so nobody knows how it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tidemark.harness.runs.group import ServerView, is_as_wanted, leader_among, state_of_group, view_of_member
from tidemark.nodes.core.messages import CONTROLLER, Reassign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.harness.simulator.actors import Actor, SimNode
    from tidemark.nodes.core.partition_state import PartitionState

ASKS_EVERY_US = 100_000


class _Servers(Protocol):
    """What an operator sees of the simulation, and does in it."""

    now: int

    @property
    def nodes(self) -> Mapping[int, SimNode]: ...
    def brokers(self) -> Sequence[int]: ...
    def broker(self, broker: int) -> Any: ...  # noqa: ANN401 (the family's machine; None while it does not run)
    def push(self, at: int, actor: Actor, event: object) -> None: ...
    def call_at(self, at_us: int, action: Callable[[], None]) -> None: ...


class MembershipOperator:
    """Knows what is wanted, and nothing else that the servers do not show."""

    def __init__(self, simulation: _Servers, first: dict[str, tuple[int, ...]]) -> None:
        self._simulation = simulation
        self._wanted = dict(first)
        self._asking: set[str] = set()

    def want(self, partition: str, members: tuple[int, ...]) -> None:
        """From now on these are wanted, the preferred leader first; what was wanted before is not any more."""
        self._wanted[partition] = members
        if partition not in self._asking:
            self._asking.add(partition)
            self._ask(partition)

    def _ask(self, partition: str) -> None:
        simulation, wanted = self._simulation, self._wanted[partition]
        answering = [broker for broker in simulation.brokers() if not simulation.nodes[broker].port.paused]
        servers = self._members(partition, answering)
        leader = leader_among(servers)
        if is_as_wanted(wanted, servers):
            self._asking.discard(partition)
            return
        if leader is not None:
            node = simulation.nodes[leader.node_id]
            simulation.push(simulation.now, node, Reassign(CONTROLLER, partition, wanted))
        simulation.call_at(simulation.now + ASKS_EVERY_US, lambda: self._ask(partition))

    def state_of(self, partition: str) -> PartitionState:
        """How it stands (:func:`tidemark.harness.runs.group.state_of_group`)."""
        return state_of_group(partition, self._wanted[partition], self._members(partition, self._simulation.brokers()))

    def _members(self, partition: str, brokers: Sequence[int]) -> list[ServerView]:
        machines = [self._simulation.broker(broker) for broker in brokers]
        return [view_of_member(machine.replicas[partition]) for machine in machines if machine is not None]
