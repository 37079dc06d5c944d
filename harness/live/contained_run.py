"""One run in containers: boot, work under faults, heal, demand convergence, read everything back.

The phases are those of a simulated run (:mod:`tidemark.harness.simulator.simulate`), in real time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tidemark.checkers.history.history import History
from tidemark.harness.clients import ClientsError
from tidemark.harness.clients.workload import WorkloadOrder
from tidemark.harness.evidence.collect import fetch_all
from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, doubts_in_meta
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.evidence.trace_history import TracedAnswer, TraceHistory
from tidemark.harness.live import healing, phases
from tidemark.harness.live.link_faults import NETEM, TRANSPORT
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.live.progress import RunProgress
from tidemark.harness.live.recorder import Recorder
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.netem import has_netem
from tidemark.harness.runs.coming_to_rest import converge_us
from tidemark.harness.runs.meta import run_meta, times_of
from tidemark.harness.runs.suffering import Suffered, suffer
from tidemark.harness.systems.capabilities import ReadsLogs, Watched
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nemesis import Injector
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.harness.clients import Library
    from tidemark.harness.clients.workload import Workload
    from tidemark.harness.machines.cluster import Cluster
    from tidemark.harness.systems.system import System
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant

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


def run_plan(
    plan: Plan,
    variant: AnyVariant,
    contract: str | None = None,
    *,
    cluster: Cluster,
    system: System | None = None,
    clients: str = "confluent",
    progress: RunProgress | None = None,
    folder: Path | None = None,
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
        **run_meta(plan.cluster, variant, contract),
        **({"times": times_of(plan.cluster.settings)} if system.keeps_times else {}),
        "faults_end_us": plan.faults_end_us,
        "end_us": 0,
        "plan": plan.index,
        "seed": plan.seed,
        "faults": len(plan.faults),
        "world": "docker",
        "delay": delay,
        "clients": clients,
        **system.describe(variant),
        **system.describe_clients(variant),
    }
    suffered = suffer(plan, family_of(variant))
    meta |= suffered.told()
    with Recorder(meta, folder, progress.note) as recorder:
        live = LiveCluster(cluster.machines, plan, variant, recorder, delay=delay, system=system)
        try:
            return _Run(live, plan, suffered, recorder, progress, folder).carry_out(clients, meta)
        except Exception:
            _save_evidence(live, folder)
            raise
        finally:
            live.close()


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
        fetch_all({node: one.control for node, one in cluster.nodes.items()}, folder)


class _Run:
    """A run under way."""

    def __init__(
        self,
        cluster: LiveCluster,
        plan: Plan,
        suffered: Suffered,
        recorder: Recorder,
        progress: RunProgress,
        folder: Path | None,
    ) -> None:
        self._cluster = cluster
        self._plan = plan
        self._suffered = suffered
        self._recorder = recorder
        self._progress = progress
        self._folder = folder

    def carry_out(self, clients: str, meta: dict[str, Any]) -> ContainedRun:
        cluster, plan, progress = self._cluster, self._plan, self._progress
        settings = plan.cluster.settings
        workload = self._workload(clients)  # loading a client library takes seconds on a busy machine
        cluster.boot()
        try:
            self._disturb(workload)
        except BaseException:
            with suppress(ClientsError):
                workload.stop()
            raise
        self._clients(workload.stop)
        progress.phase = "coming to rest"
        phases.converge(cluster, converge_us(settings))
        progress.phase = "reading back"
        deadline = cluster.now_us() + phases.final_read_us(settings)
        meta["read_back"] = self._clients(lambda: workload.final_read(deadline))
        progress.phase = "collecting"
        return self._collect(meta)

    def _disturb(self, workload: Workload) -> None:
        """The phases in which clients work."""
        cluster, plan, progress = self._cluster, self._plan, self._progress
        cluster.ask_to_delete = workload.delete
        progress.began_s = time.monotonic()
        self._clients(workload.start)
        progress.phase = "faults"
        injector = Injector(cluster, self._suffered.faults, self._suffered.left_out)
        injector.arm()
        cluster.run_until(plan.faults_end_us)
        progress.phase = "healing"
        injector.heal_all()
        cluster.settle()
        healing.verify(cluster)
        progress.phase = "working on"
        phases.work_on(cluster, phases.after_heal_us(plan.cluster.settings))

    def _workload(self, clients: str) -> Workload:
        cluster = self._cluster
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

    def _collect(self, meta: dict[str, Any]) -> ContainedRun:
        cluster, recorder = self._cluster, self._recorder
        evidence, segments = phases.dump_logs(cluster, self._folder)
        end_us = cluster.now_us()
        traces = TraceHistory(cluster.run_loop.began_us)
        if isinstance(cluster.system, Watched):
            for node, found in evidence.items():
                traces.add(node, cluster.system.events_of(found.trace, found.name), cluster.clocks_us[node])
        down = frozenset(broker for broker in cluster.brokers() if not cluster.processes.running(broker))
        seen = ReplicaEvidence(traces.events, segments, down=down)
        if isinstance(cluster.system, ReadsLogs):
            seen = cluster.system.interpret(seen)
        trace = traces.trace(recorder.trace, seen, cluster.processes.excused)
        meta |= {"end_us": end_us, "died": cluster.processes.died}
        if cluster.refused:
            meta["refused"] = cluster.refused
        if cluster.processes.started_again:
            meta["started_again"] = cluster.processes.started_again
        meta |= doubts_in_meta(seen.not_understood, seen.doubted)
        history = History(meta, recorder.ops, recorder.nemesis, trace)
        recorder.replace(history)
        return ContainedRun(history, traces.answers, len(trace) + len(history.ops) + len(history.nemesis), end_us)
