"""Why a partition is stuck, where the trace shows it: a run whose only sign of a bug is `stuck` is explained by the bug.

Looked for, of the replicas that still count at the end: a broker that gave up or crashed; a live broker that has not heard of the
newest leader epoch; a follower that refuses what it fetches as out of order; logs that differ; no leader though a member of the ISR
lives.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 0, "elect", "t-0", 1, 3, (1, 2), (), "initial", True, 0),
...     (11, 1, "lead", "t-0", 3, 0, 0, (1, 2)),
...     (90, 2, "follow", "t-0", 2, 1, 0, 0),
...     (95, 0, "converged", "t-0", False, "broker 2 has not caught up"),
... ]))
>>> print(verdict.anomalies[0].message)
t-0 had not come to rest when the run ended at 0.000095 s: broker 2 has not caught up. Broker 2 goes by epoch 2, and has not \
heard of epoch 3, elected at 0.000010 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tidemark.checkers.history.history import TraceEvent
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.replica_state import ReplayedReplica, ReplayedReplicas
from tidemark.checkers.replicas.stuck import BROKER_STOPPED, STUCK
from tidemark.checkers.verdict.verdict import Anomaly, seconds

DIFFERING = ("divergence", "log-matching")


def explained(anomalies: Sequence[Anomaly], trace: Sequence[TraceEvent], replicas: ReplayedReplicas) -> list[Anomaly]:
    """The anomalies, each `stuck` among them with its causes."""
    if not any(one.name == STUCK for one in anomalies):
        return [*anomalies]
    return [_with_causes(one, anomalies, trace, replicas) if one.name == STUCK else one for one in anomalies]


def _with_causes(
    stuck: Anomaly, anomalies: Sequence[Anomaly], trace: Sequence[TraceEvent], replicas: ReplayedReplicas
) -> Anomaly:
    partition = stuck.partition
    members = [replica for replica in replicas.by_partition.get(partition, ()) if replica.assigned]
    life = IsrLife(trace)
    elected: TraceEvent | None = None
    for event in trace:
        life.step(event)
        if event[2] == "elect" and event[3] == partition:
            elected = event
    causes = [
        *_gave_up(anomalies, members),
        *(_no_leader(elected, life, partition, trace) if elected else ()),
        *(_deaf(elected, members, life, trace) if elected else ()),
        *_refusing(trace, members),
        *_differing(anomalies, partition),
    ]
    if not causes:
        return stuck
    return replace(stuck, message=" ".join([stuck.message, *causes]), evidence={**stuck.evidence, "because": causes})


def _gave_up(anomalies: Sequence[Anomaly], members: Iterable[ReplayedReplica]) -> list[str]:
    down = {replica.node for replica in members if not replica.up}
    return [one.message for one in anomalies if one.name == BROKER_STOPPED and one.evidence["node"] in down]


def _no_leader(elected: TraceEvent, life: IsrLife, partition: str, trace: Sequence[TraceEvent]) -> list[str]:
    live = [node for node in life.isrs.get(partition, ()) if life.alive(node)]
    if elected[4] >= 0 or not live:
        return []
    names = ", ".join(map(str, live))
    return [
        f"There is no leader since {seconds(elected[0])}, though {names} of the ISR live.",
        *(words for node in live if (words := _lost_its_disk(node, partition, trace))),
    ]


def _lost_its_disk(node: int, partition: str, trace: Sequence[TraceEvent]) -> str:
    """When a broker's disk was lost, if it has appended nothing since; else empty.

    Since KIP-858 a controller elects nobody whose log directory is another one than the replica was in (seen on 3.9.2).
    """
    since: TraceEvent | None = None
    for event in trace:
        if event[1] == node:
            if event[2] == "stop" and event[4] == "disk":
                since = event
            elif event[2] == "append" and event[3] == partition:
                since = None
    return f"Broker {node} lost its disk, and with it its log, at {seconds(since[0])}." if since else ""


def _deaf(
    elected: TraceEvent, members: Iterable[ReplayedReplica], life: IsrLife, trace: Sequence[TraceEvent]
) -> list[str]:
    """Who lives, and was told nothing, or goes by an older epoch than the newest."""
    time, epoch = elected[0], elected[5]
    causes = []
    for replica in members:
        if not replica.up or not life.alive(replica.node):
            continue
        if not _has_a_role(replica, trace):
            causes.append(f"Broker {replica.node} has not been told anything since it started.")
        elif replica.epoch < epoch:
            newest = f"epoch {epoch}, elected at {seconds(time)}"
            causes.append(f"Broker {replica.node} goes by epoch {replica.epoch}, and has not heard of {newest}.")
    return causes


def _has_a_role(replica: ReplayedReplica, trace: Sequence[TraceEvent]) -> bool:
    """Whether its process was told to lead or to follow since it started."""
    told = False
    for event in trace:
        if event[1] == replica.node:
            if event[2] == "start":
                told = False
            elif event[2] in ("lead", "follow") and event[3] == replica.partition:
                told = True
    return told


def _refusing(trace: Sequence[TraceEvent], members: Iterable[ReplayedReplica]) -> list[str]:
    """Followers whose last step was to refuse a batch."""
    causes = []
    for replica in members:
        since: TraceEvent | None = None
        for event in trace:
            if event[1] == replica.node and event[3] in (replica.partition, ""):
                if event[2] == "out-of-order":
                    since = since or event
                elif event[2] in ("append", "stop", "lead"):
                    since = None
        if since is not None:
            causes.append(
                f"Broker {replica.node} refuses the batch at offset {since[4]} as out of order since {seconds(since[0])}: its "
                f"log ends at {since[5]}."
            )
    return causes


def _differing(anomalies: Sequence[Anomaly], partition: str) -> list[str]:
    found = [one for one in anomalies if one.name in DIFFERING and one.partition == partition]
    return [found[0].message] if found else []
