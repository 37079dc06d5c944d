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

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TraceEvent
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas
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
    for event in trace:
        life.step(event)
    *_, elected = None, *trace_events.Elect.among(trace, partition)
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


def _no_leader(elected: trace_events.Elect, life: IsrLife, partition: str, trace: Sequence[TraceEvent]) -> list[str]:
    isr = life.isrs.get(partition, ())
    live = [node for node in isr if life.alive(node) and life.is_replica(partition, node)]
    if elected.leader >= 0 or not isr:
        return []
    if not any(life.is_replica(partition, node) for node in isr):
        return [
            f"There is no leader since {seconds(elected.time)}: nobody whom the controller has in sync is a replica any more."
        ]
    if not live:
        return []
    names = ", ".join(map(str, live))
    return [
        f"There is no leader since {seconds(elected.time)}, though {names} of the ISR live.",
        *(words for node in live if (words := _lost_its_disk(node, partition, trace))),
    ]


def _lost_its_disk(node: int, partition: str, trace: Sequence[TraceEvent]) -> str:
    """When a broker's disk was lost, if it has appended nothing since; else empty.

    Since KIP-858 a controller elects nobody whose log directory is another one than the replica was in (seen on 3.9.2).
    """
    since: trace_events.Event | None = None
    for event in trace:
        if event[NODE] == node:
            if event[KIND] == "stop" and trace_events.Stop(event).how == "disk":
                since = trace_events.Stop(event)
            elif event[KIND] == trace_events.LogLost.kind and event[PARTITION] == partition:
                since = trace_events.LogLost(event)
            elif event[KIND] == "append" and event[PARTITION] == partition:
                since = None
    if since is None:
        return ""
    what = "log directory" if since[KIND] == trace_events.LogLost.kind else "disk"
    return f"Broker {node} lost its {what}, and with it its log, at {seconds(since.time)}."


def _deaf(
    elected: trace_events.Elect, members: Iterable[ReplayedReplica], life: IsrLife, trace: Sequence[TraceEvent]
) -> list[str]:
    """Who lives, and was told nothing, or goes by an older epoch than the newest."""
    epoch = elected.leader_epoch
    causes = []
    for replica in members:
        if not replica.up or not life.alive(replica.node):
            continue
        if not _has_a_role(replica, trace):
            causes.append(f"Broker {replica.node} has not been told anything since it started.")
        elif replica.epoch < epoch:
            newest = f"epoch {epoch}, elected at {seconds(elected.time)}"
            causes.append(f"Broker {replica.node} goes by epoch {replica.epoch}, and has not heard of {newest}.")
    return causes


def _has_a_role(replica: ReplayedReplica, trace: Sequence[TraceEvent]) -> bool:
    """Whether its process was told to lead or to follow since it started."""
    told = False
    for event in trace:
        if event[NODE] == replica.node:
            if event[KIND] == "start":
                told = False
            elif event[KIND] in ("lead", "follow") and event[PARTITION] == replica.partition:
                told = True
    return told


def _refusing(trace: Sequence[TraceEvent], members: Iterable[ReplayedReplica]) -> list[str]:
    """Followers whose last step was to refuse a batch."""
    causes = []
    for replica in members:
        since: trace_events.OutOfOrder | None = None
        for event in trace:
            if event[NODE] == replica.node and event[PARTITION] in (replica.partition, ""):
                if event[KIND] == "out-of-order":
                    since = since or trace_events.OutOfOrder(event)
                elif event[KIND] in ("append", "stop", "lead"):
                    since = None
        if since is not None:
            causes.append(
                f"Broker {replica.node} refuses the batch at offset {since.base_offset} as out of order since "
                f"{seconds(since.time)}: its log ends at {since.leo}."
            )
    return causes


def _differing(anomalies: Sequence[Anomaly], partition: str) -> list[str]:
    found = [one for one in anomalies if one.name in DIFFERING and one.partition == partition]
    return [found[0].message] if found else []
