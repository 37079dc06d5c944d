"""Lines of ``state.change.logger``: who leads, who follows whom."""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, Follows, IsrView, Leads
from tidemark.nodes.sidecar.lines.isr_lines import brokers, viewed
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplica, KnownReplicas
from tidemark.nodes.sidecar.lines.stamp import Head

_ANNOUNCED = re.compile(
    r"Received LeaderAndIsr request LeaderAndIsrPartitionState\(topicName='([^']+)', partitionIndex=(\d+), .*?"
    r"leader=(-?\d+), leaderEpoch=(\d+), isr=\[[^\]]*\], (?:zkVersion|partitionEpoch)=(\d+),"
)
_LEADS = re.compile(
    r"Leader (\S+) (?:with topic id (?:Some\()?([\w-]+)\)? )?starts at leader epoch (\d+) from offset (\d+) with "
    r"(?:partition epoch (\d+), )?high watermark (\d+),? ISR \[([^\]]*)\]"
)
_FOLLOWS = re.compile(
    r"Follower (\S+) starts at leader epoch (\d+) from offset (\d+) with (?:partition epoch (\d+) and )?"
    r"high watermark (\d+)\.(?: Current leader is (-?\d+)\.)?"
)
_LEADERLESS = re.compile(
    r"for partition (\S+) .*but cannot become follower since the new leader (-?\d+) is unavailable"
)
_STILL_LEADS = re.compile(
    r"Skipped the become-leader state change for (\S+) with topic id .*?leaderEpoch=\d+, (?:isr=\[[^\]]*\], )?"
    r"partitionEpoch=(\d+)\b.* since it is already the leader with leader epoch \d+\. .*ISR \[([^\]]*)\],"
)
_CREATING = re.compile(r"Creating new partition (\S+)-\d+ with topic id ([\w-]+)\.")


def read(replicas: KnownReplicas, head: Head) -> list[Event]:
    """A line's events."""
    message = head.message
    if " LeaderAndIsr request " in message:
        _announced(replicas, message)
        return []
    if "] Leader " in message:
        return _leads(replicas, message)
    if "] Follower " in message:
        return _follows(replicas, message)
    found = _STILL_LEADS.search(message)
    if found is not None:
        replica = replicas[found[1]]
        isr = brokers(found[3])
        return viewed(replica, IsrView(replica.name, isr, isr, int(found[2])))
    found = _LEADERLESS.search(message)
    if found is not None:
        return _leaderless(replicas[found[1]], int(found[2]))
    found = _CREATING.search(message)
    if found is not None:
        replicas.topics[found[2]] = found[1]
    return []


def _announced(replicas: KnownReplicas, message: str) -> None:
    found = _ANNOUNCED.search(message)
    if found is not None:
        replica = replicas[f"{found[1]}-{found[2]}"]
        replica.announced = (int(found[4]), int(found[3]))
        if int(found[4]) > replica.leader_epoch:
            replica.partition_epoch = int(found[5])


def _leads(replicas: KnownReplicas, message: str) -> list[Event]:
    found = _LEADS.search(message)
    if found is None:
        return []
    name, topic_id, epoch, leo, partition_epoch, hw, isr = found.groups()
    replica = replicas[name]
    if topic_id is not None:
        replicas.topics[topic_id] = name.rpartition("-")[0]
    if partition_epoch is not None:
        replica.partition_epoch = int(partition_epoch)
    _enter(replica, int(epoch), leading=True)
    replica.isr = replica.maximal = brokers(isr)
    return [Leads(name, replica.leader_epoch, int(leo), int(hw), replica.isr)]


def _follows(replicas: KnownReplicas, message: str) -> list[Event]:
    found = _FOLLOWS.search(message)
    if found is None:
        return []
    name, epoch, leo, partition_epoch, hw, leader = found.groups()
    replica = replicas[name]
    if partition_epoch is not None:
        replica.partition_epoch = int(partition_epoch)
    _enter(replica, int(epoch), leading=False)
    if leader is None:
        announced_epoch, announced = replica.announced
        leader = announced if announced_epoch == replica.leader_epoch else -1
    return [Follows(name, replica.leader_epoch, int(leader), int(leo), int(hw))]


def _leaderless(replica: KnownReplica, leader: int) -> list[Event]:
    """ZooKeeper's controller has no leader for the partition, or one that this broker does not know to be alive."""
    epoch, _ = replica.announced
    if epoch <= replica.leader_epoch:
        return []
    _enter(replica, epoch, leading=False)
    return [Follows(replica.name, epoch, leader, replica.leo, replica.hw)]


def _enter(replica: KnownReplica, epoch: int, *, leading: bool) -> None:
    replica.leader_epoch = epoch
    replica.leading = leading
    replica.reason = ""
    if not leading:
        replica.isr = replica.maximal = ()
