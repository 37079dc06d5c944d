"""Lines about the in-sync replicas, as their leader sees them."""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, IsrView
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplica, KnownReplicas
from tidemark.nodes.sidecar.lines.stamp import Head

_OF = re.compile(r"\[Partition (\S+) broker=\d+\] ")
_UPDATED = re.compile(r"ISR updated to ([\d, ]+?) *and (?:version|zkVersion) updated to \[?(\d+)\]?$")
_RESET = re.compile(
    r"has been reset to the latest committed state CommittedPartitionState(?:\(isr=Set\(|\[isr=\[)([\d, ]*)[)\]]"
)
"""A case class until 4.1, a record since."""
_WRITING = re.compile(r"Writing new ISR List\(([\d, ]*)\) to ZooKeeper with version \d+ for partition (\S+)$")
_ALTER_TOPIC = re.compile(
    r"TopicData\((?:(?:name|topicName)='([^']*)', )?(?:topicId=([\w-]+), )?partitions=\["
    r"|PartitionData\(partitionIndex=(\d+), leaderEpoch=\d+, newIsr=\[([\d, ]*)\]"
    r"(?:, newIsrWithEpochs=\[((?:BrokerState\([^)]*\)(?:, )?)*)\])?"
)
_BROKER_ID = re.compile(r"brokerId=(\d+)")


def brokers(text: str) -> tuple[int, ...]:
    """The ids of ``1, 2,3``, in order."""
    return tuple(sorted(int(part) for part in text.split(",") if part.strip()))


def viewed(replica: KnownReplica, view: IsrView) -> list[Event]:
    """Take over a leader's view; no event if it is the one that was known."""
    changed = (view.isr, view.maximal) != (replica.isr, replica.maximal)
    changed = changed or view.partition_epoch != replica.partition_epoch
    replica.isr, replica.maximal, replica.partition_epoch = view.isr, view.maximal, view.partition_epoch
    return [view] if changed else []


def _pending(replica: KnownReplica, proposed: tuple[int, ...]) -> list[Event]:
    """The leader asked for another ISR: until it hears, the old one and the new one together bound its high watermark."""
    if not replica.leading:
        return []
    maximal = tuple(sorted({*replica.isr, *proposed}))
    return viewed(replica, IsrView(replica.name, replica.isr, maximal, replica.partition_epoch))


def read(replicas: KnownReplicas, head: Head) -> list[Event]:
    """Lines of ``kafka.cluster.Partition``."""
    of = _OF.match(head.message)
    if of is None:
        return []
    replica = replicas[of[1]]
    found = _UPDATED.search(head.message)
    if found is not None:
        isr = brokers(found[1])
        return viewed(replica, IsrView(replica.name, isr, isr, int(found[2])))
    found = _RESET.search(head.message)
    if found is not None:
        isr = brokers(found[1])
        return viewed(replica, IsrView(replica.name, isr, isr, replica.partition_epoch))
    return []


def read_zookeeper(replicas: KnownReplicas, head: Head) -> list[Event]:
    """Lines of ``kafka.server.ZkIsrManager``: the ISR is about to be written to ZooKeeper."""
    found = _WRITING.search(head.message)
    return [] if found is None else _pending(replicas[found[2]], brokers(found[1]))


def read_request(replicas: KnownReplicas, message: str) -> list[Event]:
    """An AlterIsr or AlterPartition request that is being sent."""
    events: list[Event] = []
    topic = ""
    for found in _ALTER_TOPIC.finditer(message):
        name, topic_id, index, isr, with_epochs = found.groups()
        if index is None:
            topic = replicas.topic(name, topic_id)
        elif topic:
            proposed = brokers(isr) or tuple(int(id_) for id_ in _BROKER_ID.findall(with_epochs or ""))
            events += _pending(replicas[f"{topic}-{index}"], proposed)
    return events
