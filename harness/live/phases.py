"""The last phases of a run in containers: work on, come to rest, tell how everything ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tidemark.harness.evidence.collect import Evidence, fetch_all
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.runs.at_rest import restored, waiting_for
from tidemark.harness.runs.coming_to_rest import converge_us
from tidemark.harness.systems.capabilities import ReadsLogs
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.harness.evidence.replica_evidence import Segment
    from tidemark.harness.live.live_cluster import LiveCluster
    from tidemark.harness.machines.admin_channel import AdminReply
    from tidemark.nodes.core.settings import Settings

LOOK_US = 200_000
WATCH_US = 50_000
_SAME = ("role", "leader_epoch", "start", "leo", "hw")
_TRIES = 3
_MOST_BOUNDS = 3
SILENT_S = 20.0


def after_heal_us(settings: Settings) -> int:
    """How long the clients go on after healing, so that a replica that is stuck has something to be stuck on: a session, which
    is 1 s unless times are scaled, as in the simulator.
    """
    return settings.session_us


def final_read_us(settings: Settings) -> int:
    """The bound for the final read: 5 s in the simulator's times."""
    return converge_us(settings) // 3


def work_on(cluster: LiveCluster, duration_us: int) -> None:
    """Go on with the workload for a while, and note when each partition is whole again."""
    hurt = set(cluster.partitions())
    end = cluster.now_us() + duration_us
    while cluster.now_us() < end:
        if hurt:
            whole = {name for name, view in cluster.views().items() if name in hurt and restored(view)}
            for name in sorted(whole):
                cluster.trace_event(CONTROLLER, "restored", name)
            hurt -= whole
        cluster.run_until(min(cluster.now_us() + WATCH_US, end))


def converge(cluster: LiveCluster, within_us: int) -> None:
    """Wait until every partition is at rest, or nothing has changed for as long as the bound; trace which. A partition that changes
    for ever is given up after some bounds.

    Raises:
        RunError: a broker runs, and does not say how it stands.
    """
    began, seen = cluster.now_us(), None
    deadline = began + within_us
    while True:
        cluster.run_until(cluster.now_us() + LOOK_US)
        views = cluster.views()
        waiting = {name: waiting_for(view) for name, view in views.items()}
        now = cluster.now_us()
        if views != seen:
            seen, deadline = views, min(now + within_us, began + _MOST_BOUNDS * within_us)
        if not any(waiting.values()) or now >= deadline:
            break
    if any(waiting.values()):
        _all_answer(cluster)
        waiting = {name: waiting_for(view) for name, view in cluster.views().items()}
    for name, why in waiting.items():
        cluster.trace_event(CONTROLLER, "converged", name, not why, why)


def _all_answer(cluster: LiveCluster) -> None:
    """A machine that is too busy to answer must not be taken for a broker that is stuck."""
    statuses = cluster.observation.statuses(cluster.brokers(), SILENT_S)
    silent = [
        cluster.nodes[b].name for b, status in statuses.items() if status is None and cluster.processes.running(b)
    ]
    if silent:
        raise RunError(
            f"{', '.join(silent)} did not say how it stands within {SILENT_S:g} s, so nobody knows whether it came to rest"
        )


def dump_logs(cluster: LiveCluster, folder: Path | None) -> tuple[dict[int, Evidence], dict[int, dict[str, Segment]]]:
    """Fetch everything, and trace every running replica's final state: its role from the process, its log from its file, or, where
    it lies in none, from the process too. What a broker has that is no replica (any more) owes nothing.

    A replica that moves while it is fetched (it did not come to rest) is fetched again, three times at most.

    Raises:
        RunError: something cannot be fetched.
    """
    controls = {node: one.control for node, one in cluster.nodes.items()}
    for _ in range(_TRIES):
        before = cluster.observation.statuses(cluster.brokers(), SILENT_S)
        evidence = fetch_all(controls, folder)
        after = cluster.observation.statuses(cluster.brokers(), SILENT_S)
        if all(_key(before[broker]) == _key(after[broker]) for broker in after):
            break
        time.sleep(WATCH_US / 1e6)
    system = cluster.system
    if not isinstance(system, ReadsLogs):
        return evidence, {}
    segments = {node: system.segments(found) for node, found in evidence.items()}
    for broker, status in after.items():
        for name, replica in (status["partitions"] if status else {}).items():
            if broker not in cluster.replicas_of(name):
                continue
            in_file = segments[broker].get(name, [])
            batches = cluster.log_in_memory(broker, name) if replica.get("in_memory") else in_file
            trace_final(cluster, broker, name, replica, tuple(batches))
    return evidence, segments


def trace_final(
    cluster: LiveCluster,
    broker: int,
    partition: str,
    replica: Mapping[str, Any],
    batches: tuple[tuple[int, int, tuple[int, ...]], ...],
) -> None:
    """Trace one replica's final state, from what its process says and its file holds."""
    cluster.trace_event(
        broker,
        "final",
        partition,
        "leader" if replica["role"] == "leader" else "follower",
        replica["leader_epoch"],
        replica["leo"],
        replica["hw"],
        tuple((epoch, start) for epoch, start in replica["epochs"]),
        batches,
    )


def _key(status: AdminReply | None) -> object:
    if status is None:
        return None
    return {name: [replica.get(field) for field in _SAME] for name, replica in status["partitions"].items()}
