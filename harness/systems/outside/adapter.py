"""A system of any protocol, as the live world wants systems: with an admin port at each node, which is its keeper's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.needs import MachineNeeds
from tidemark.harness.systems.capabilities import Watched
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.outside.real_system import ALONE, LogEntry, Node, RealSystem, View
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.nemesis import SIMULATED_ONLY
from tidemark.nemesis.kind import Part
from tidemark.nemesis.kinds import KINDS, MEMBERSHIP, kinds_on, kinds_that_need
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families.outside import OutsideVariant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from docker import DockerClient

    from tidemark.harness.clients.workload import Workload, WorkloadOrder
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant

Told = TypeVar("Told", View, LogEntry)
LOG = "log"
PROMISES = ("majority", "durable", "ack-quorum")
NOT_SUFFERED = {
    **dict.fromkeys(kinds_on(Part.TALK, Part.CONTROLLER), "nobody knows of a controller"),
    **dict.fromkeys(("late-leadership", "lost-leadership"), "nobody can tell its messages apart"),
    **dict.fromkeys(kinds_on(Part.LEADERSHIP), "nobody can ask it for an election"),
    **dict.fromkeys(kinds_on(Part.RECORDS), "nobody can ask it to delete records"),
    **dict.fromkeys(kinds_on(Part.REPLICAS), "nobody can move its replicas"),
    **dict.fromkeys(kinds_on(Part.SETTINGS), "nobody can change its settings"),
    **dict.fromkeys(sorted(SIMULATED_ONLY), "its disk is a real one"),
    "clock-jump": "nobody can see whether its clock is moved: a static binary loads no libfaketime",
}
"""What nobody can do to a system that is seen from outside."""
STAYS = "nobody can take it out of the members: the system has no leave and join"
NO_LEADER = "it waits for the {role}, and nobody sees who leads: the system has no view"
NO_DELAY = "this kernel has no netem, and nobody can delay its messages otherwise"
ROLES = ("leader", "follower")
NO_EPOCH = 0
"""Of a node that tells none."""
JOIN_S, JOIN_PAUSE_S = 90.0, 0.3
VOLATILE = "256m"
"""For the ledger of what was synced."""


class OutsideSystem(System, Watched):
    """Stands between the live world and a :class:`RealSystem`."""

    container_kill = "crash"

    def __init__(self, real: RealSystem, typed: str = "") -> None:
        """What was typed after ``--system`` stands in histories, if it is not the system's name."""
        if real.promise not in PROMISES:
            raise SystemRefusalError(f"{real.name} promises {real.promise!r}; there are {', '.join(PROMISES)}")
        unknown = sorted(real.suffers_not.keys() - KINDS.keys())
        if unknown:
            raise SystemRefusalError(
                f"{real.name} says that it does not suffer {', '.join(unknown)}, which nobody does"
            )
        self.real = real
        self.typed = typed
        self.trouble = ""
        """Why a view could not be had, last."""
        self.name = real.name
        self.time_scale = real.time_scale
        self.data_files = real.data_files
        self.needs = MachineNeeds(memory=real.memory, volatile_size=VOLATILE, data_size=real.disk)

    @property
    def default_variant(self) -> str:
        return self.name

    @property
    def modelled_by(self) -> str:
        """The variant of ours that is its model; empty if there is none."""
        return self.real.model

    def variant(self, name: str) -> AnyVariant:
        """There is one: whatever the system is."""
        if name != self.name:
            raise SystemRefusalError(f"nobody knows the protocol of {self.name}: leave --variant {name} away")
        return OutsideVariant(self.name, self.real.promise, self.not_suffered)

    @property
    def not_suffered(self) -> Mapping[str, str]:
        """Kind of fault → why it cannot suffer it."""
        stays = {} if self.real.changes_members else dict.fromkeys(kinds_that_need(MEMBERSHIP), STAYS)
        alone = {} if self.real.has_something_beside else {"from-controller": ALONE}
        return {**NOT_SUFFERED, **stays, **alone, **self.real.suffers_not}

    def check(self, plan: Plan, variant: AnyVariant) -> None:
        """Whatever it cannot suffer is left out of the plan, and told."""
        kind = self.as_it_takes(plan).beside_sends or LOG
        if kind not in self.real.workloads:
            there = ", ".join(self.real.workloads)
            raise SystemRefusalError(f"{self.name} has no clients for the workload {kind}; it has {there}")
        if words := self.real.refuses(plan):
            raise SystemRefusalError(f"{self.name} {words}")

    def as_it_takes(self, plan: Plan) -> Plan:
        """With its first workload, where the plan asks for none beside the log, and it is none."""
        first = self.real.workloads[0]
        if plan.beside_sends or first == LOG:
            return plan
        return plan.with_workload(first)

    def cannot_suffer(self, plan: Plan, *, delays: bool) -> dict[int, str]:
        """Place in the plan → why this fault cannot be suffered, for what its kind alone does not tell."""
        found = {}
        for index, fault in enumerate(plan.faults):
            if not self.real.shows_leaders and fault.row.of_one_broker and fault.target in ROLES:
                found[index] = NO_LEADER.format(role=fault.target)
            elif fault.kind == "slow" and not delays:
                found[index] = NO_DELAY
        return found

    # Install, processes, setup

    def install(self, client: DockerClient, tell: Callable[[str], None]) -> str:
        from tidemark.harness.systems.outside.image import build_image

        tell(f"getting {self.name}")  # a program of somebody else's may be built now, for many minutes
        return build_image(client, self.name, self.real.install(), tell)

    def control(self, machine: Machine, on_lost: Callable[[], None] | None = None) -> NodeControl:
        from tidemark.harness.systems.outside.control import KeptControl

        return KeptControl(machine, on_lost)

    def configure(self, node: int, incarnation: int, deployment: Deployment) -> dict[str, Any]:
        """As ``tidemark.nodes.keeper.config`` reads it."""
        from tidemark.harness.systems.outside.control import KeptPlaces

        places = KeptPlaces()
        process = self.real.process(node, _nodes(deployment), tuple(deployment.cluster.assignment()))
        return {
            "node": node,
            "incarnation": incarnation,
            "admin": f"127.0.0.1:{deployment.machines[node].admin_port}",
            "trace": places.trace,
            "process": places.pid,
            "output": places.log,
            "data": places.data,
            "ledger": places.ledger if deployment.follows_syncs else None,
            "argv": list(process.argv),
            "env": dict(process.env),
            "files": dict(process.files),
            "ready": [process.ready] if isinstance(process.ready, str) else [],
            "ready_port": process.ready if isinstance(process.ready, int) else 0,
        }

    def prepare(self, deployment: Deployment) -> None:
        self.real.workload = deployment.workload or LOG
        try:
            self.real.beside(Node(CONTROLLER, deployment.machines[CONTROLLER]), _nodes(deployment))
        except OSError as error:
            raise NodeError(f"what {self.name} needs beside its nodes cannot be started: {error}") from error

    def setup(self, controls: Mapping[int, NodeControl], deployment: Deployment) -> None:
        """Make the logs; what was written until then is durable, as after half a minute of rest."""
        try:
            self.real.setup(_nodes(deployment), deployment.cluster.assignment())
        except OSError as error:
            raise NodeError(f"{self.name} cannot be set up: {error}") from error
        for control in controls.values():
            control.admin.ask("sync")

    def leave(self, node: int, deployment: Deployment) -> str:
        try:
            self.real.leave(node, _nodes(deployment))
        except Exception as error:  # noqa: BLE001 - somebody else's code
            return f"{type(error).__name__}: {error}"
        return ""

    def join(self, node: int, deployment: Deployment) -> bool:
        deadline = time.monotonic() + JOIN_S
        while True:
            try:
                return self.real.join(node, _nodes(deployment))
            except Exception as error:
                if time.monotonic() > deadline:
                    raise NodeError(
                        f"nobody takes node {node} of {self.name} in again within {JOIN_S:g} s: {error}"
                    ) from error
                time.sleep(JOIN_PAUSE_S)

    def is_halt(self, words: str) -> bool:
        """Nobody knows of a reason why its protocol would have it give up."""
        return False

    # Its clients, and what is seen of it

    def workload(self, order: WorkloadOrder) -> Workload:
        from tidemark.harness.systems.outside.object_workload import ObjectClients
        from tidemark.harness.systems.outside.workload import OutsideWorkload

        asked = order.plan.workload.object
        if asked is None:
            return OutsideWorkload(order, lambda: self.real.client(LOG))
        return ObjectClients(order, lambda: self.real.client(asked.kind))

    @property
    def shows_leaders(self) -> bool:
        return self.real.shows_leaders

    def stands(self, node: int, machine: Machine, log: str, replicas: Sequence[int]) -> dict[str, Any] | None:
        """By its view; what that raises means that it does not say."""
        try:
            view = _a(View, self.real.view(Node(node, machine), log))
        except Exception as error:  # noqa: BLE001 - somebody else's code
            self.trouble = f"the view of node {node} could not be had: {type(error).__name__}: {error}"
            return None
        return told(view, replicas)

    def final_log(
        self, node: int, machine: Machine, log: str, *, damaged: bool = False
    ) -> Sequence[tuple[int, int, tuple[int | str, ...]]] | None:
        """A node's log at the end, as batches of one record; None if nobody can see it.

        What lies in damaged files is what the nemesis has put there: whether anybody was served it, clients tell.

        Raises:
            NodeError: it cannot be had.
        """
        if not self.real.shows_logs or (damaged and self.real.shows_files):
            return None
        try:
            given = self.real.log_of(Node(node, machine), log)
            entries = None if given is None else [_a(LogEntry, entry) for entry in given]
        except Exception as error:
            raise NodeError(f"the log {log} of node {node} cannot be had: {type(error).__name__}: {error}") from error
        if entries is None:
            return None
        return [(entry.offset, 0 if entry.epoch is None else entry.epoch, (entry.value,)) for entry in entries]

    def describe(self, variant: AnyVariant) -> dict[str, Any]:
        shows = [
            what for what, shown in (("leaders", self.real.shows_leaders), ("logs", self.real.shows_logs)) if shown
        ]
        promised = {"promised": self.real.promised} if self.real.promised else {}
        typed = {"typed": self.typed} if self.typed else {}
        return {"system": self.name, **typed, "untold": True, "shows": shows, **promised, **self.real.describe()}

    def describe_clients(self, variant: AnyVariant) -> dict[str, Any]:
        return {"clients": "the system's own"}


def _a(kind: type[Told], given: object) -> Told:
    """What somebody's method gave, if it is what it should be."""
    if not isinstance(given, kind):
        raise TypeError(f"it gives {given!r}, and should give a {kind.__name__} (docs/systems.md)")
    return given


def told(view: View, replicas: Sequence[int]) -> dict[str, Any]:
    """A view in the words of a status. What is not known is what keeps nothing waiting."""
    end = view.end or 0
    return {
        "role": "leader" if view.leads else "follower",
        "leader_epoch": NO_EPOCH if view.epoch is None else view.epoch,
        "leo": end,
        "hw": end if view.committed is None else view.committed,
        "isr": list(replicas) if view.leads else [],
        "refused": "",
        "leader": -1 if view.leader is None else view.leader,
        "epochs": [],
    }


def _nodes(deployment: Deployment) -> dict[int, Node]:
    return {node: Node(node, deployment.machines[node]) for node in deployment.cluster.broker_ids()}
