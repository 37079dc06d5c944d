"""How everything ended on machines: who answers, what the replicas say of themselves, and what their files hold."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.harness.evidence.collect import Evidence, fetch_all
from tidemark.harness.evidence.partition_disk import Batches, read_memory
from tidemark.harness.evidence.replica_evidence import Segment
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.live_cluster import LiveCluster
from tidemark.harness.machines.admin_channel import AdminReply
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.systems.capabilities import KeepsLogsOfItsOwn, ReadsLogs, SeenFromOutside

_SAME = ("role", "leader_epoch", "start", "leo", "hw")
_TRIES = 3
_AGAIN_S = 0.05
SILENT_S = 20.0


def all_answer(cluster: LiveCluster) -> None:
    """A machine that is too busy to answer must not be taken for a broker that is stuck.

    Raises:
        RunError: a broker runs, and does not say how it stands.
    """
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
    for _ in range(_TRIES):
        before = cluster.observation.statuses(cluster.nodes, SILENT_S)
        evidence = fetch_all(cluster.controls, folder)
        after = cluster.observation.statuses(cluster.brokers(), SILENT_S)
        if all(_key(before[broker]) == _key(after[broker]) for broker in after):
            break
        time.sleep(_AGAIN_S)
    system = cluster.system
    if isinstance(system, SeenFromOutside):
        _tell_final_logs(cluster, system)
    if not isinstance(system, ReadsLogs):
        return evidence, {}
    segments = {node: system.segments(found) for node, found in evidence.items()}
    if isinstance(system, KeepsLogsOfItsOwn):
        for node, status in before.items():
            for own in system.own_logs(evidence[node], status) if status else ():
                cluster.trace_event(node, *own)
    for broker, status in after.items():
        for name, replica in (status["partitions"] if status else {}).items():
            if broker not in cluster.replicas_of(name):
                continue
            in_file = segments[broker].get(name, [])
            batches = _log_in_memory(cluster.controls[broker], name) if replica.get("in_memory") else in_file
            cluster.trace_event(broker, "final", name, *final_fields(replica, batches))
    return evidence, segments


def _tell_final_logs(cluster: LiveCluster, system: SeenFromOutside) -> None:
    """Trace the log of every node that runs, as the system shows it."""
    views = cluster.observation.views()
    for name, nodes in cluster.deployment.cluster.assignment().items():
        leader = views[name].leader if name in views else -1
        for node in (node for node in nodes if cluster.processes.running(node)):
            try:
                damaged = node in cluster.processes.damaged()
                batches = system.final_log(node, cluster.machines[node], name, damaged=damaged)
            except NodeError as error:
                raise RunError(str(error)) from None
            if batches is not None:
                end = batches[-1][0] + len(batches[-1][2]) if batches else 0
                role = "leader" if node == leader else "follower"
                cluster.trace_event(node, "final", name, role, -1, end, end, (), tuple(batches))


def _log_in_memory(control: NodeControl, partition: str) -> Batches:
    try:
        return read_memory(control, partition)
    except NodeError as error:
        raise RunError(f"the log of {control.name} cannot be had: {error}") from None


def final_fields(replica: Mapping[str, Any], batches: Batches) -> tuple[object, ...]:
    """The fields of a replica's ``final``, from what its process says and its file holds."""
    role = "leader" if replica["role"] == "leader" else "follower"
    cache = tuple((epoch, start) for epoch, start in replica["epochs"])
    return role, replica["leader_epoch"], replica["leo"], replica["hw"], cache, tuple(batches)


def _key(status: AdminReply | None) -> object:
    if status is None:
        return None
    return {name: [replica.get(field) for field in _SAME] for name, replica in status["partitions"].items()}
