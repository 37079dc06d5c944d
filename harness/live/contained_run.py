"""One run in containers: boot, work under faults, heal, demand convergence, read everything back.

The phases are those of every run (:mod:`tidemark.harness.runs.phases`), in real time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from tidemark.checkers.history.history import History
from tidemark.harness.clients import ClientsError, Library
from tidemark.harness.clients.workload import Tells, Workload, WorkloadOrder
from tidemark.harness.evidence.collect import Evidence, fetch_all
from tidemark.harness.evidence.replica_evidence import Segment, doubts_in_meta
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.evidence.trace_history import TracedAnswer
from tidemark.harness.evidence.whole_trace import whole_trace
from tidemark.harness.live import verify_healed
from tidemark.harness.live.final_states import all_answer, dump_logs
from tidemark.harness.live.going_on import NodesLeft, may_go_on
from tidemark.harness.live.link_faults import NETEM, TRANSPORT
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.onlookers import Onlookers
from tidemark.harness.live.outside_observation import OutsideObservation
from tidemark.harness.live.progress import RunProgress
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.machines.cluster import Cluster
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.netem import has_netem
from tidemark.harness.runs.at_rest import PartitionView
from tidemark.harness.runs.meta import holds_back, run_meta, times_of
from tidemark.harness.runs.phases import carry_out, in_real_time
from tidemark.harness.runs.suffering import Suffered, suffer
from tidemark.harness.systems.capabilities import SeenFromOutside
from tidemark.harness.systems.outside.object_workload import MODELS
from tidemark.harness.systems.system import System
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Plan
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import AnyVariant, family_of

CLIENT_LOG = "clients.log"

T = TypeVar("T")


@dataclass(slots=True)
class ContainedRun:
    """What a run in containers gives.

    Attributes:
        history: see docs/history.md.
        answers: what leaders told followers about where logs end.
        events: lines of the history.
        duration_us: from the first leader to the end.
    """

    history: History
    answers: list[TracedAnswer]
    events: int
    duration_us: int


def run_plan(  # noqa: PLR0913 (what a run is made of)
    plan: Plan,
    variant: AnyVariant,
    contract: str | None = None,
    *,
    cluster: Cluster,
    system: System | None = None,
    clients: str = "confluent",
    progress: RunProgress | None = None,
    folder: Path | None = None,
    left: NodesLeft | None = None,
) -> ContainedRun:
    """Run a plan under a variant, on real processes.

    Args:
        plan: faults, workload and cluster.
        variant: the protocol.
        contract: the promise the history is to be judged by; the variant's own by default.
        cluster: machines, at least as many as the plan's cluster has nodes. What earlier runs left on them is removed first.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        clients: the workload's client library.
        progress: told what is going on.
        folder: of the run: the history as it grows, and in the end whole; an archive of each node's files.
        left: what the last run left; brought up to date. Without it, no nodes are left.

    Raises:
        RunError: the run could not be carried out as planned; what evidence there is is in the folder.
        ContainerWorldError: a machine could not be used.
    """
    _check_size(plan, cluster)
    progress = progress or RunProgress()
    progress.phase = "starting the nodes"
    system = system or TidemarkSystem()
    delay = NETEM if has_netem(system.control(cluster.machines[CONTROLLER])) else TRANSPORT
    meta: dict[str, Any] = {
        **run_meta(plan.cluster, variant, contract or system.promise_of(plan)),
        **({"times": times_of(plan.cluster.settings)} if system.keeps_times else {}),
        "holds_back": holds_back(plan),
        "faults_end_us": plan.faults_end_us,
        "end_us": 0,
        "plan": plan.index,
        "seed": plan.seed,
        "faults": len(plan.faults),
        "world": "docker",
        "delay": delay,
        "clients": clients,
        **(
            {}
            if plan.workload.object is None
            else {"workload": plan.workload.object.kind, "model": MODELS[plan.workload.object.kind]}
        ),
        **system.describe(variant),
        **system.describe_clients(variant),
    }
    refused = system.cannot_suffer(plan, delays=delay == NETEM) if isinstance(system, SeenFromOutside) else {}
    suffered = suffer(plan, family_of(variant), refused)
    meta |= suffered.told()
    with Recorder(meta, folder, progress.note) as recorder:
        leaves, left = left is not None, NodesLeft() if left is None else left
        live = LiveCluster(
            cluster.machines, plan, variant, recorder, delay=delay, system=system, before=left.started_for
        )
        if live.goes_on:
            meta["runs_before"] = left.runs
        else:
            left.none()
        go_on = False
        try:
            done = _Run(live, plan, suffered, recorder, progress, folder).carry_out(clients, meta)
            go_on = leaves and may_go_on(live, plan)
        except Exception:
            _save_evidence(live, folder)
            raise
        finally:
            if live.close(go_on=go_on) and go_on:
                left.by(live.deployment)
            else:
                left.none()
        return done


def _check_size(plan: Plan, cluster: Cluster) -> None:
    missing = [node for node in (CONTROLLER, *plan.cluster.broker_ids()) if node not in cluster.machines]
    if missing:
        raise RunError(
            f"the plan wants {plan.cluster.brokers} brokers and a controller; there are {len(cluster.machines)} machines"
        )


def _save_evidence(cluster: LiveCluster, folder: Path | None) -> None:
    """After a failure: whatever can be had."""
    cluster.run_loop.close()
    for node in cluster.nodes.values():
        with suppress(ContainerWorldError), node.reachable():
            pass
    with suppress(ContainerWorldError):
        fetch_all(cluster.controls, folder)


class _Run:
    """A run under way, and its driver through the phases (:class:`tidemark.harness.runs.phases.Run`)."""

    def __init__(
        self,
        cluster: LiveCluster,
        plan: Plan,
        suffered: Suffered,
        recorder: Recorder,
        progress: RunProgress,
        folder: Path | None,
    ) -> None:
        self.world = cluster
        self._plan = plan
        self._suffered = suffered
        self._recorder = recorder
        self._progress = progress
        self._folder = folder
        self._workload: Workload
        self._clients_work = False
        self._onlookers: Onlookers | None = None
        self._evidence: dict[int, Evidence] = {}
        self._segments: dict[int, dict[str, Segment]] = {}

    def carry_out(self, clients: str, meta: dict[str, Any]) -> ContainedRun:
        plan = self._plan
        self._workload = self._make_workload(clients)  # loading a client library takes seconds on a busy machine
        try:
            meta["read_back"] = carry_out(
                self, plan, self._suffered, in_real_time(plan.cluster.settings), self._progress.enter
            )
        except BaseException:
            if self._clients_work:
                with suppress(ClientsError):
                    self._workload.stop()
            raise
        finally:
            self._look_no_more()
        return self._told(meta)

    # tidemark.harness.runs.phases.Run

    def begin_clients(self) -> None:
        self.world.ask_to_delete = self._workload.delete
        self._progress.began_s = time.monotonic()
        self._clients_work = True
        self._clients(self._workload.start)
        if isinstance(self.world.observation, OutsideObservation) and self.world.observation.sees_leaders:
            self._onlookers = Onlookers(self.world.brokers(), self.world.observation.glance, self.world.trace_event)

    def healed(self) -> None:
        self.world.settle()
        verify_healed.verify(self.world)

    def stop_clients(self) -> None:
        self._clients_work = False
        self._clients(self._workload.stop)

    def views(self, partitions: Iterable[str], *, with_reasons: bool = True) -> dict[str, PartitionView]:
        found, damaged = self.world.observation.views(), self.world.processes.damaged()
        views = {name: found[name] for name in partitions if name in found}
        if damaged:
            views = {name: view._replace(damaged=damaged).owing() for name, view in views.items()}
        return views

    def all_answer(self) -> None:
        all_answer(self.world)

    def read_back(self, within_us: int) -> bool:
        deadline = self.world.now_us() + within_us
        return self._clients(lambda: self._workload.final_read(deadline))

    def collect(self) -> None:
        self._look_no_more()
        self._evidence, self._segments = dump_logs(self.world, self._folder)

    def _look_no_more(self) -> None:
        if self._onlookers is not None:
            self._onlookers.close()
            self._onlookers = None

    # Its clients, and what came of it

    def _make_workload(self, clients: str) -> Workload:
        cluster = self.world
        order = WorkloadOrder(
            plan=self._plan,
            variant=cluster.deployment.variant,
            addresses={broker: cluster.nodes[broker].machine.advertised for broker in cluster.brokers()},
            clock=cluster.now_us,
            record=self._recorder.op,
            counters=self._progress.counters,
            library=cast("Library", clients),
            log=self._folder / CLIENT_LOG if self._folder else None,
        )
        return self._clients(lambda: cluster.system.workload(order))

    @staticmethod
    def _clients(deed: Callable[[], T]) -> T:
        """Let the clients do something, and say what came of it.

        Raises:
            RunError: they could not do it to the end, so what they recorded is not whole.
        """
        try:
            return deed()
        except ClientsError as error:
            raise RunError(str(error)) from None

    def _told(self, meta: dict[str, Any]) -> ContainedRun:
        cluster, recorder = self.world, self._recorder
        end_us = cluster.now_us()
        whole = whole_trace(
            {node: cluster.events_of(found.trace, found.name) for node, found in self._evidence.items()},
            cluster.clocks_us,
            cluster.run_loop.began_us,
            noted=recorder.trace,
            logs=self._segments,
            down=frozenset(broker for broker in cluster.brokers() if not cluster.processes.running(broker)),
            interpret=cluster.interpret,
            excused=cluster.processes.excused,
        )
        meta |= {"end_us": end_us, "died": cluster.processes.died}
        if isinstance(self._workload, Tells):
            meta |= self._workload.told()
        if cluster.processes.damage_done:
            meta["damage"] = cluster.processes.damage_done
        if cluster.processes.gave_up_damaged:
            meta["gave_up_damaged"] = cluster.processes.gave_up_damaged
        if cluster.refused:
            meta["refused"] = cluster.refused
        if cluster.processes.started_again:
            meta["started_again"] = cluster.processes.started_again
        if cluster.processes.joined:
            meta["joined"] = cluster.processes.joined
        meta |= doubts_in_meta(whole.seen.not_understood, whole.seen.doubted)
        history = History(meta, recorder.ops, recorder.nemesis, whole.trace)
        recorder.replace(history)
        return ContainedRun(history, whole.answers, len(whole.trace) + len(history.ops) + len(history.nemesis), end_us)
