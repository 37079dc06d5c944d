"""What runs on a cluster's machines is a *system*: Tidemark's own nodes, Apache Kafka, or one that somebody else added.

Its shape is that of Jepsen's ``DB``: an image to install it, a configuration for each node, a control that starts, stops, kills,
asks whether a node is ready and reads its logs, an election, and a description for the history. docs/systems.md shows how to add
one in a single file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.harness.evidence.log_agreement import agreement_of_all, tells_of_logs
from tidemark.harness.evidence.replica_evidence import doubts_together
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.nemesis import LASTING_CONTROLLER_ONLY, REASSIGNMENT, SIMULATED_ONLY
from tidemark.nemesis.fault import messages_of
from tidemark.nemesis.kinds import RETENTION, by_kind, kinds_that_need
from tidemark.nodes.core.messages import CONTROLLER, NOT_ENOUGH_REPLICAS, NOT_LEADER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from docker import DockerClient

    from tidemark.harness.evidence.collect import Evidence
    from tidemark.harness.evidence.partition_disk import Disk
    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, Segment
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.nemesis import Plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import AnyVariant

CANNOT_REASSIGN = "has no evidence of replicas that come and go"
"""Why a system does not reassign, after its name."""

Rules = list[dict[str, Any]]
"""What a node's transport does to messages: ``kind``, ``to``, ``effect``, ``amount``
(:mod:`tidemark.nodes.admin.message_rules`)."""


class SystemRefusalError(ValueError):
    """A system cannot run this plan, variant or scenario; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a system must know to configure the nodes of one run.

    Attributes:
        machines: node → machine, the controller's as 0 where there is one; at least those of the cluster's nodes.
        cluster: shape and settings.
        variant: the protocol.
        first_leader_epoch: the epoch of each partition's first leader, where it can be chosen.
        given: whether logs lie on the disks before the first start.
    """

    machines: Mapping[int, Machine]
    cluster: ClusterSpec
    variant: AnyVariant
    first_leader_epoch: int = 0
    given: bool = False

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that run a process: the brokers, after node 0 if the protocol has a controller or a metadata store."""
        brokers = self.cluster.broker_ids()
        return (CONTROLLER, *brokers) if family_of(self.variant).has_node_0 else brokers


def has_controller(variant: AnyVariant) -> bool:
    """Whether there is a controller under a variant; without one, the servers elect among themselves (docs/families.md)."""
    return family_of(variant).has_isr


class System(ABC):
    """One system under test.

    Attributes:
        name: what ``--system`` calls it.
        needs: of each node's container.
        controller_first: node 0 must be ready before the brokers start.
        time_scale: by how much the times of random plans must be multiplied at least, unless somebody asks for another scale.
        runs_on_hosts: whether machines from a hosts file can run it.
        spreads_rules: rules for messages act elsewhere than at their sender (see :meth:`spread`).
        renumbers_epochs: leader epochs are spent that no script counts, and the first cannot be chosen.
        outlives_controller: the cluster goes on while node 0's process is down, so that its crash is a fault like any other.
        hands_over_controller: the controller can fail while node 0's process goes on (see :meth:`fail_controller`).
        retains: a broker can be told to let its retention delete (see :meth:`retain`).
        reassigns: replicas can be moved while it runs, and its evidence tells of it (see :meth:`reassign`).
        keeps_times: its brokers elect leaders and change ISRs as Kafka's do, by the plan's settings: how long that takes is judged.
        container_kill: what the kill of its container is to a node's files: ``power``, or ``crash`` where all it wrote survives.
    """

    name: str
    needs = MachineNeeds()
    controller_first = False
    time_scale = 1.0
    runs_on_hosts = False
    spreads_rules = False
    renumbers_epochs = False
    outlives_controller = False
    hands_over_controller = False
    retains = False
    reassigns = False
    keeps_times = False
    container_kill = "power"

    # What it can do

    @property
    def default_variant(self) -> str:
        """The protocol where nobody asked for one."""
        return "kafka-2.7"

    def variant(self, name: str) -> AnyVariant:
        """The protocol that a name asked for means on this system.

        Raises:
            VariantError: there is none of that name. SystemRefusalError: this system cannot express it.
        """
        from tidemark.nodes.core.variant import Variant
        from tidemark.nodes.families import parse_variant

        variant = parse_variant(name)
        if not isinstance(variant, Variant):
            raise SystemRefusalError(
                f"{self.name} knows Kafka's protocol only: {name} runs in the simulator and on tidemark's nodes"
            )
        return variant

    def model(self, preset: str) -> tuple[str, str] | None:
        """What this system is under a preset, where it is not the preset's own design: the variant of the core that is its model,
        and the system's name with whatever holds it to that; `None` if the preset itself is the model.

        Raises:
            SystemRefusalError: this system cannot be that.
        """
        return None

    def check(self, plan: Plan, variant: AnyVariant) -> None:
        """Refuse what cannot be expressed; called before anything is started. Whoever refuses more, refuses this as well.

        Raises:
            SystemRefusalError: in one sentence.
        """
        suffered = {fault.kind for fault in plan.faults} - by_kind(family_of(variant).not_suffered).keys()
        lasting = sorted(suffered & LASTING_CONTROLLER_ONLY)
        if lasting and not (self.outlives_controller or self.hands_over_controller):
            raise SystemRefusalError(
                f"the controller of {self.name} keeps nothing, so it cannot do {', '.join(lasting)}: "
                "run this plan with --system kafka:VERSION"
            )
        kinds = {fault.kind for fault in plan.faults}
        if not self.retains and kinds & kinds_that_need(RETENTION):
            raise SystemRefusalError(self.refuses_retention())
        if not self.reassigns and kinds & kinds_that_need(REASSIGNMENT):
            raise SystemRefusalError(f"{self.name} {CANNOT_REASSIGN}, so it cannot do {REASSIGNMENT}")
        simulated = sorted(kinds & SIMULATED_ONLY)
        if simulated:
            raise SystemRefusalError(
                f"the disks of {self.name} are real, so it cannot do {', '.join(simulated)}: run this plan in the simulator"
            )
        for fault in plan.faults:
            for kind in messages_of(fault):
                if not self.tells_apart(kind):
                    raise SystemRefusalError(
                        f"{self.refuses_messages(kind)}, so it cannot do {fault.kind} (pick {fault.pick})"
                    )

    def tells_apart(self, kind: str) -> bool:
        """Whether messages of a kind (:data:`tidemark.nodes.core.messages.KINDS`) can be told from others, and so lost, held
        or delayed.
        """
        return True

    def refuses_messages(self, kind: str) -> str:
        """Why such messages cannot be disturbed by themselves, as a sentence."""
        return f"{self.name} has no {kind} of their own"

    # Install, configure, control

    @abstractmethod
    def image(self, client: DockerClient, tell: Callable[[str], None]) -> str:
        """The image of its nodes' containers, built if need be; its id.

        Raises:
            ImageError: it cannot be built.
        """

    @abstractmethod
    def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
        """Starts, stops and asks the process of one machine.

        Args:
            machine: where it runs.
            on_lost: called when the process ends its admin connection by itself.
        """

    @abstractmethod
    def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
        """What a process is told when it starts.

        Args:
            node: 0 for the controller.
            incarnation: which start of this node it is, from 1.
            deployment: of this run.
        """

    def before_start(  # noqa: B027 - as above
        self, node: int, controls: Mapping[int, NodeControl], deployment: Deployment
    ) -> None:
        """A process is about to be started again: wait for what would keep it from starting."""

    def after_start(  # noqa: B027 - a system may make its topic by itself
        self, controls: Mapping[int, NodeControl], deployment: Deployment
    ) -> None:
        """All processes run for the first time: make the topic, if the system does not by itself.

        Raises:
            NodeError: it cannot be made.
        """

    # While it runs

    def elect(self, controls: Mapping[int, NodeControl], partition: str, how: str, target: int) -> str:
        """An operator's election: ``preferred``, ``forced`` or ``unclean``; ends when it was decided. Not asked where there is no
        controller (see :meth:`stand`).

        Returns:
            Why the system refused it, as a sentence; empty if it did not.

        Raises:
            NodeError: nobody could be asked.
        """
        controls[CONTROLLER].elect(partition, how, target)
        return ""

    def stand(self, control: NodeControl, partition: str, *, wait: bool = True) -> None:
        """Have a server of a family without a controller stand for election; with ``wait`` false it may hear of it when it goes on.

        Raises:
            NodeError: it could not be asked.
        """
        asked = control.admin.post("stand", partition=partition)
        if wait:
            control.admin.wait(asked, "stand")

    def change_members(self, control: NodeControl, partition: str, members: Sequence[int]) -> None:
        """Tell a server of a group that changes its own members who they are to be; it may not lead, and then it does nothing.

        Raises:
            NodeError: it could not be asked.
        """
        control.admin.wait(control.admin.post("reassign", partition=partition, replicas=list(members)), "reassign", 2.0)

    def reassign(self, controls: Mapping[int, NodeControl], partition: str, replicas: Sequence[int]) -> str:
        """An operator's reassignment; ends when the controller has taken it up. Only where the system can.

        Args:
            controls: of all nodes.
            partition: such as ``t-0``.
            replicas: the preferred leader first.

        Returns:
            Why the system refused it, as a sentence; empty if it did not.

        Raises:
            NodeError: nobody could be asked.
        """
        answer = controls[CONTROLLER].admin.ask("reassign", partition=partition, replicas=list(replicas))
        return str(answer["refused"])

    def fail_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """There is no controller from now on; only where a system hands it over.

        Raises:
            NodeError: it could not be asked.
        """
        raise NotImplementedError

    def elect_controller(self, controls: Mapping[int, NodeControl]) -> None:
        """Another controller takes over, with what was written.

        Raises:
            NodeError: it could not be asked.
        """
        raise NotImplementedError

    def retain(self, control: NodeControl, partition: str, batches: int) -> None:
        """The retention of one broker finds that its oldest batches are to go; only where somebody can tell it.

        Raises:
            NodeError: it could not be asked.
        """
        raise NotImplementedError

    def refuses_retention(self) -> str:
        """Why no broker can be told to let its retention delete, as a sentence."""
        return f"nobody can tell a broker of {self.name} when its retention deletes: delete records instead"

    def spread(self, rules: Mapping[int, Rules], nodes: Iterable[int]) -> dict[int, Rules]:
        """Where rules for messages must be put in force, so that they act on what these senders send.

        Args:
            rules: sender → its rules.
            nodes: all nodes of the cluster.
        """
        return dict(rules)

    def is_halt(self, words: str) -> bool:
        """Whether these last log lines are those of a process that its protocol told to give up, which is a finding; any other
        death makes a run ``unknown``.
        """
        return True

    def came_too_early(self, words: str) -> bool:
        """Whether these last log lines are those of a process that gave up while it started, because of what passes by itself: an
        operator's supervisor starts it again, and so does the world above.
        """
        return False

    def has_idempotence(self, variant: AnyVariant) -> bool:
        """Whether its brokers take the sequence numbers of idempotent producers (KIP-98)."""
        return True

    def refusals(self, acks: str) -> frozenset[str]:
        """Errors of a Produce request with these acks that prove that nothing was written."""
        return frozenset({NOT_LEADER, NOT_ENOUGH_REPLICAS})

    # A disk

    def lay_out(self, control: NodeControl, partition: str, disk: Disk) -> None:
        """Put a log on a broker's disk before its first start.

        Raises:
            NodeError: it could not be written. SystemRefusalError: this system cannot begin with given logs.
        """
        raise SystemRefusalError(self.refuses_given_logs())

    def refuses_given_logs(self) -> str:
        """Why no run of it can begin with given logs (:meth:`lay_out`), as a sentence; empty where one can."""
        if type(self).lay_out is not System.lay_out:
            return ""
        return f"{self.name} cannot begin with given logs: they belong to a topic that does not exist yet"

    @abstractmethod
    def read_disk(self, control: NodeControl, partition: str) -> Disk:
        """What a broker that starts now would find; of one that runs, what it has written.

        Raises:
            NodeError: it cannot be read.
        """

    # Evidence

    def segments(self, evidence: Evidence) -> dict[str, Segment]:
        """The logs of one node, read from its files.

        Raises:
            RunError: a log cannot be read.
        """
        return evidence.read_segments()

    def interpret(self, found: ReplicaEvidence) -> ReplicaEvidence:
        """Look through all nodes' events and logs before they become the history's trace.

        Unless told otherwise they stay as they are, and are doubted where what a node traced of its logs is not what its files
        hold. A system that traces nothing of its logs is not judged by them.
        """
        differ = agreement_of_all(found) if tells_of_logs(found) else {}
        return replace(found, doubted=doubts_together(found.doubted, differ))

    def doubts_all_evidence(self) -> str:
        """Why none of its replicas' evidence is ever believed, as a sentence; empty if it may be."""
        return ""

    def describe(self, variant: AnyVariant) -> dict[str, Any]:
        """What a history's meta line says of the system."""
        return {"system": self.name}
