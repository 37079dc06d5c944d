"""What runs on a cluster's machines is a *system*: Tidemark's own nodes, Apache Kafka, or one that somebody else added.

Its shape is that of Jepsen's ``DB``: what to install, a process for each node, a setup of the cluster when all run, and the clients
that work on it. What only some systems can do stands in :mod:`tidemark.harness.systems.capabilities`; docs/systems-from-inside.md
shows how to add a system in a single file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tidemark.checkers import check
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.harness.systems.capabilities import (
    CANNOT_CHANGE_SETTINGS,
    CANNOT_LEAVE,
    CANNOT_REASSIGN,
    HAS_FIXED_VOTERS,
    HAS_ONE_LOG_DIRECTORY,
    AllowsUnclean,
    ChangesMembers,
    ChangesSettings,
    ChangesVoters,
    HandsOverController,
    MovesLogs,
    Reassigns,
    Retains,
    Watched,
    refuses_retention,
)
from tidemark.nemesis import LASTING_CONTROLLER_ONLY, REASSIGNMENT, SIMULATED_ONLY
from tidemark.nemesis.fault import messages_of
from tidemark.nemesis.kinds import (
    CHANGES_VOTERS,
    MEMBERSHIP,
    MOVES_LOGS,
    RETENTION,
    SETTINGS,
    UNCLEAN_SETTING,
    by_kind,
    kinds_that_need,
)
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from docker import DockerClient

    from tidemark.checkers import History, Verdict
    from tidemark.harness.clients.workload import Workload, WorkloadOrder
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.harness.systems.deployment import Deployment
    from tidemark.nemesis import Plan, WorkloadSpec
    from tidemark.nodes.families import AnyVariant


HAS_SHARE_GROUPS = "--workload share-group runs on --system kafka:VERSION, from 4.1 on"
HAS_TRANSACTIONS = "--workload transactions runs on --system kafka:VERSION, from 0.11 on"


class SystemRefusalError(ValueError):
    """A system cannot run this plan, variant or scenario; the message says why in one sentence."""


class System(ABC):
    """One system under test.

    Attributes:
        name: what ``--system`` calls it.
        needs: of each node's container.
        controller_first: node 0 must be ready before the brokers start.
        time_scale: by how much the times of random plans must be multiplied at least, unless somebody asks for another scale.
        runs_on_hosts: whether machines from a hosts file can run it.
        renumbers_epochs: leader epochs are spent that no script counts, and the first cannot be chosen.
        outlives_controller: the cluster goes on while node 0's process is down, so that its crash is a fault like any other.
        has_transactions: its brokers have Kafka's transactions (KIP-98).
        has_share_groups: they have share groups (KIP-932).
        objects: the workloads beside the log that its clients can do.
        keeps_times: its brokers elect leaders and change ISRs as Kafka's do, by the plan's settings: how long that takes is judged.
        data_files: what the data files of a node are called, below its directory, as globs: what damage to files strikes.
        controllers: the nodes that may be the controller; of several, one is active.
        container_kill: what the kill of its container is to a node's files: ``power``, or ``crash`` where all it wrote survives.
    """

    name: str
    needs = MachineNeeds()
    controller_first = False
    time_scale = 1.0
    runs_on_hosts = False
    renumbers_epochs = False
    outlives_controller = False
    has_transactions = False
    has_share_groups = False
    objects: Sequence[str] = ()
    keeps_times = False
    data_files: Sequence[str] = ("[!_]*-[0-9]*/*.log",)
    controllers: Sequence[int] = (CONTROLLER,)
    container_kill = "power"

    # What it can do

    @property
    def about(self) -> str:
        """What a person should be told of it before it runs, as a sentence; empty if its name says all."""
        return ""

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

    def plays_unasked(self, name: str) -> bool:
        """Whether a script is played under a variant that it speaks about, and that nobody has asked for."""
        return True

    def check(self, plan: Plan, variant: AnyVariant) -> None:
        """Refuse what cannot be expressed; called before anything is started. Whoever refuses more, refuses this as well.

        Raises:
            SystemRefusalError: in one sentence.
        """
        if not isinstance(self, Watched):
            raise SystemRefusalError(f"{self.name} has no admin port and no trace file: nobody sees who leads in it")
        self._check_workload(plan.workload)
        suffered = {fault.kind for fault in plan.faults} - by_kind(family_of(variant).not_suffered).keys()
        lasting = sorted(suffered & LASTING_CONTROLLER_ONLY)
        if lasting and not (self.outlives_controller or isinstance(self, HandsOverController)):
            raise SystemRefusalError(
                f"the controller of {self.name} keeps nothing, so it cannot do {', '.join(lasting)}: "
                "run this plan with --system kafka:VERSION"
            )
        kinds = {fault.kind for fault in plan.faults}
        if not isinstance(self, Retains) and kinds & kinds_that_need(RETENTION):
            raise SystemRefusalError(refuses_retention(self.name))
        if not isinstance(self, Reassigns) and kinds & kinds_that_need(REASSIGNMENT):
            raise SystemRefusalError(f"{self.name} {CANNOT_REASSIGN}, so it cannot do {REASSIGNMENT}")
        for need, there in ((SETTINGS, ChangesSettings), (UNCLEAN_SETTING, AllowsUnclean)):
            if not isinstance(self, there) and (changes := sorted(kinds & kinds_that_need(need))):
                raise SystemRefusalError(f"{self.name} {CANNOT_CHANGE_SETTINGS}, so it cannot do {', '.join(changes)}")
        if not isinstance(self, MovesLogs) and (moves := sorted(kinds & MOVES_LOGS)):
            raise SystemRefusalError(
                f"{self.name} {HAS_ONE_LOG_DIRECTORY}, so it cannot do {', '.join(moves)}: "
                "run this plan with --system kafka:VERSION"
            )
        if not isinstance(self, ChangesVoters) and (changes := sorted(kinds & CHANGES_VOTERS)):
            raise SystemRefusalError(
                f"{self.name} {HAS_FIXED_VOTERS}, so it cannot do {', '.join(changes)}: "
                "run this plan with --system kafka:4.3.1@3-controllers"
            )
        if not isinstance(self, ChangesMembers) and (leaves := sorted(kinds & kinds_that_need(MEMBERSHIP))):
            raise SystemRefusalError(
                f"{self.name} {CANNOT_LEAVE}, so it cannot do {', '.join(leaves)}: try {REASSIGNMENT}"
            )
        simulated = sorted(kinds & SIMULATED_ONLY)
        if simulated:
            raise SystemRefusalError(
                f"the disks of {self.name} are real, so it cannot do {', '.join(simulated)}: run this plan in the simulator"
            )
        for fault in plan.faults:
            for kind in messages_of(fault):
                if not self.tells_apart(kind):
                    raise SystemRefusalError(
                        f"{refuses_messages(self, kind)}, so it cannot do {fault.kind} (pick {fault.pick})"
                    )

    def _check_workload(self, work: WorkloadSpec) -> None:
        if work.object is not None and work.object.kind not in self.objects:
            raise SystemRefusalError(f"{self.name} is a log: it has no clients for the workload {work.object.kind}")
        if work.transactional and not self.has_transactions:
            raise SystemRefusalError(f"{self.name} has no transactions: {HAS_TRANSACTIONS}")
        if work.share_members and not self.has_share_groups:
            raise SystemRefusalError(f"{self.name} has no share groups: {HAS_SHARE_GROUPS}")

    def as_it_takes(self, plan: Plan) -> Plan:
        """The plan with what nobody asked for, and this system needs."""
        return plan

    def tells_apart(self, kind: str) -> bool:
        """Whether messages of a kind (:data:`tidemark.nodes.core.messages.KINDS`) can be told from others, and so lost, held
        or delayed.
        """
        return True

    # Install, processes, setup

    @abstractmethod
    def install(self, client: DockerClient, tell: Callable[[str], None]) -> str:
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

    def prepare(self, deployment: Deployment) -> None:  # noqa: B027 - most need nothing beside their nodes
        """No node runs yet: start what they need beside them, on the machine of node 0.

        Raises:
            NodeError: it cannot be started.
        """

    def before_start(  # noqa: B027 - as above
        self, node: int, controls: Mapping[int, NodeControl], deployment: Deployment
    ) -> None:
        """A process is about to be started again: wait for what would keep it from starting."""

    def setup(  # noqa: B027 - a system may make its topic by itself
        self, controls: Mapping[int, NodeControl], deployment: Deployment
    ) -> None:
        """All processes run for the first time: make the topic, if the system does not by itself.

        Raises:
            NodeError: it cannot be made.
        """

    # How a process ends

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

    # Clients, and what they are promised

    @abstractmethod
    def workload(self, order: WorkloadOrder) -> Workload:
        """The clients of one run; nothing is connected yet.

        Raises:
            ClientsError: what they need is not here.
        """

    def promise_of(self, plan: Plan) -> str | None:
        """By which promise a run is judged, unless somebody chose one; None: by the variant's own."""
        return None

    def judge(self, history: History) -> Verdict:
        """What the checkers say of a history of this system."""
        return check(history)

    def describe(self, variant: AnyVariant) -> dict[str, Any]:
        """What a history's meta line says of the system."""
        return {"system": self.name}

    def describe_clients(self, variant: AnyVariant) -> dict[str, Any]:
        """And of what its clients do otherwise than one would think."""
        return {}


def refuses_messages(system: System, kind: str) -> str:
    """Why messages of a kind cannot be disturbed by themselves (:meth:`System.tells_apart`), as a sentence."""
    return f"{system.name} has no {kind} of their own"
