"""The nodes of one run on machines: what they run, how they are told apart, which faults are on their links.

Who acts on them is another's: a random run, whose decisions are ahead of the machines
(:mod:`tidemark.harness.live.live_cluster`), or a script, one verb at a time (:mod:`tidemark.harness.scenario.live.nodes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.live.contained_node import ContainedNode
from tidemark.harness.live.link_faults import LinkFaults
from tidemark.harness.live.membership import LiveOperator
from tidemark.harness.live.observation import Observation
from tidemark.harness.live.outside_observation import OutsideObservation
from tidemark.harness.machines.machine import Machine
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.systems.capabilities import (
    CANNOT_LEAVE,
    ChangesMembers,
    ReadsLogs,
    SeenFromOutside,
    SpreadsRules,
    VotesItself,
    Watched,
)
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.system import System
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import family_of


class ClusterNodes:
    """Controller, if there is one, and brokers.

    Args:
        deployment: machines, one for every node of the cluster; cluster and variant.
        system: what runs on the machines.
        delay: what slows links, ``netem`` or ``transport``.

    Attributes:
        machines: of all nodes of the cluster, node 0 included, whether or not anything runs there.
        nodes: those that run a process, by id, the controller as 0. controls: of their processes.
        links: the faults on links.
        operator: asks whoever leads a group for the members that are wanted; None where members never change.
        observation: how they stand.
    """

    def __init__(self, deployment: Deployment, system: System, *, delay: str) -> None:
        cluster, variant = deployment.cluster, deployment.variant
        self.system = system
        self.deployment = deployment
        self.machines = dict(deployment.machines)
        self._partitions = tuple(cluster.assignment())
        self.has_node_0 = CONTROLLER in deployment.nodes
        self.has_controller = family_of(variant).has_isr
        addresses = {node: machine.inner_ip for node, machine in self.machines.items()}
        self.links = LinkFaults(addresses, delay, system.spread if isinstance(system, SpreadsRules) else None)
        self.nodes = {node: self._node(node) for node in deployment.nodes}
        self.controls = {node: one.control for node, one in self.nodes.items()}
        first = cluster.assignment()
        self.operator: LiveOperator | None = None
        if family_of(variant).changes_members and isinstance(system, VotesItself):
            self.operator = LiveOperator(system, self.controls, first)
        wanted = first if self.operator is None else self.operator.wanted
        self.observation = self.observe(wanted)

    def observe(self, wanted: Mapping[str, tuple[int, ...]]) -> Observation:
        """Makes what asks the nodes how they stand, given the replicas, or those that an operator wants now."""
        if isinstance(self.system, SeenFromOutside):
            return OutsideObservation(self.system, self.machines, self.controls, self.excused, wanted)
        return Observation(
            self.controls,
            self.excused,
            wanted,
            asks_controller=self.has_controller,
            controllers=self.system.controllers,
        )

    def excused(self, node: int) -> bool:
        """Whether a fault keeps a node from answering."""
        return False

    def _node(self, node: int) -> ContainedNode:
        lost = partial(self.lost, node)
        return ContainedNode(node, self.machines[node], self.links, lost, self.traced, self.control)

    def control(self, machine: Machine, on_lost: Callable[[], None]) -> NodeControl:
        """Makes what controls a machine's process."""
        return self.system.control(machine, on_lost)

    def lost(self, node: int) -> None:
        """A process hung up on us; called in any thread."""

    def traced(self, event: list[Any]) -> None:
        """A process has traced what is watched; called in any thread."""

    def config(self, node: int, incarnation: int) -> dict[str, Any]:
        """What a process is told when it starts."""
        return self.system.configure(node, incarnation, self.deployment)

    def before_start(self, node: int) -> None:
        """A process is about to be started again: wait for what would keep it from starting."""
        self.system.before_start(node, self.controls, self.deployment)

    def take_out(self, node: int) -> str:
        """Have the others take a node out of their members; why they did not, as far as is known, or nothing."""
        return self.system.leave(node, self.deployment) if isinstance(self.system, ChangesMembers) else CANNOT_LEAVE

    def let_in(self, node: int) -> bool:
        """A node that was to leave is about to be started: whether it has left, is a new member, and so must have an empty disk.

        Raises:
            NodeError: nobody takes it in.
        """
        return isinstance(self.system, ChangesMembers) and self.system.join(node, self.deployment)

    def prepare(self) -> None:
        """No process runs yet: what they need beside them is started.

        Raises:
            NodeError: it cannot be.
        """
        self.system.prepare(self.deployment)

    def after_start(self) -> None:
        """All processes run for the first time: make the topic, if the system does not by itself.

        Raises:
            NodeError: it cannot be made.
        """
        self.system.setup(self.controls, self.deployment)

    def events_of(self, trace: str, name: str) -> list[list[Any]]:
        """What a node of this name has traced; nothing, if nodes of this system do not trace.

        Raises:
            RunError: a line is damaged.
        """
        return self.system.events_of(trace, name) if isinstance(self.system, Watched) else []

    def interpret(self, found: ReplicaEvidence) -> ReplicaEvidence:
        """The system's look through the evidence of all nodes."""
        return self.system.interpret(found) if isinstance(self.system, ReadsLogs) else found

    def all_at_once(self, deed: Callable[[int], object], nodes: Iterable[int]) -> None:
        """Do something on several nodes at the same time.

        Raises:
            NodeError: the first that failed.
        """
        with ThreadPoolExecutor(len(self.nodes)) as threads:
            list(threads.map(deed, nodes))

    # How they stand

    def brokers(self) -> tuple[int, ...]:
        """All broker ids."""
        return self.deployment.cluster.broker_ids()

    def partitions(self) -> tuple[str, ...]:
        """All partition names."""
        return self._partitions

    def leader_of(self, partition: str) -> int:
        """The controller's leader, −1 if there is none."""
        return int(self.observation.partition(partition)["leader"])

    def isr_of(self, partition: str) -> tuple[int, ...]:
        """The controller's committed ISR."""
        return tuple(self.observation.partition(partition)["isr"])

    def replicas_of(self, partition: str) -> tuple[int, ...]:
        """The partition's replicas, preferred leader first."""
        return tuple(self.observation.partition(partition)["replicas"])

    def target_of(self, partition: str) -> tuple[int, ...]:
        """The replicas it will have when a reassignment that is under way has ended."""
        state = self.observation.partition(partition)
        return tuple(b for b in state["replicas"] if b not in state.get("removing", ()))
