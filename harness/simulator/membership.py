"""The operator of groups whose members change: asks whoever leads, again and again, until the members are those that are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from nodes.core.messages import CONTROLLER, Reassign
from nodes.core.partition_state import PartitionState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.simulator.actors import Actor, SimNode

ASKS_EVERY_US = 100_000


class Servers(Protocol):
    """What an operator sees of the simulation, and does in it.

    Attributes:
        now: the time in µs. nodes: by id.
    """

    now: int

    @property
    def nodes(self) -> Mapping[int, SimNode]:
        """By id."""

    def brokers(self) -> Sequence[int]:
        """The servers' ids."""

    def broker(self, broker: int) -> Any:  # noqa: ANN401 (the family's machine)
        """The state machine of one that runs, else None."""

    def push(self, at: int, actor: Actor, event: object) -> None:
        """Deliver an event at a time."""

    def call_at(self, at_us: int, action: Callable[[], None]) -> None:
        """Call something at a time."""


class MembershipOperator:
    """Knows what is wanted, and nothing else that the servers do not show."""

    def __init__(self, simulation: Servers, first: dict[str, tuple[int, ...]]) -> None:
        """Nothing but the first members is wanted."""
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
        leader = self._leader(partition)
        if leader is not None:
            if self._is_done(partition, leader):
                self._asking.discard(partition)
                return
            node = simulation.nodes[leader.node_id]
            simulation.push(simulation.now, node, Reassign(CONTROLLER, partition, wanted))
        simulation.call_at(simulation.now + ASKS_EVERY_US, lambda: self._ask(partition))

    def _is_done(self, partition: str, leader: Any) -> bool:  # noqa: ANN401 (a member of a voting group)
        """Whether all that are wanted follow this leader and know it: one that was deposed may lead an old group."""
        wanted = self._wanted[partition]
        group = [replica for replica in self._running(partition) if replica.node_id in wanted]
        return (
            not leader.wanted
            and len(group) == len(wanted)
            and all(
                replica.leader == leader.node_id
                and replica.leader_epoch == leader.leader_epoch
                and set(replica.settled) == set(replica.members) == set(wanted)
                for replica in group
            )
        )

    def state_of(self, partition: str) -> PartitionState:
        """As the newest leader of those that run has it; without one, as who has the newest configuration. Servers that are wanted,
        and are no members yet, count as replicas that are being added, and a leader that has taken itself away as one that goes.
        """
        wanted = self._wanted[partition]
        leader = self._leader(partition)
        newest = leader or max(self._running(partition), key=_how_new, default=None)
        members: tuple[int, ...] = newest.members if newest is not None else wanted
        adding = tuple(server for server in wanted if server not in members)
        removing = tuple(server for server in members if server not in wanted)
        if leader is not None and leader.node_id not in (*wanted, *removing):
            removing = (*removing, leader.node_id)
        replicas = (*wanted, *removing)
        found = PartitionState(partition, replicas, replicas, adding=adding, removing=removing)
        if leader is not None:
            found.leader, found.leader_epoch = leader.node_id, leader.leader_epoch
        return found

    def _running(self, partition: str) -> list[Any]:
        machines = [self._simulation.broker(broker) for broker in self._simulation.brokers()]
        return [machine.replicas[partition] for machine in machines if machine is not None]

    def _leader(self, partition: str) -> Any:  # noqa: ANN401 (a member of a voting group)
        leading = [replica for replica in self._running(partition) if replica.leading]
        return max(leading, key=_generation, default=None)


def _generation(replica: Any) -> int:  # noqa: ANN401 (the same)
    generation: int = replica.leader_epoch
    return generation


def _how_new(replica: Any) -> tuple[int, int]:  # noqa: ANN401 (the same)
    newest = replica.configurations.newest
    return newest.generation, newest.offset
