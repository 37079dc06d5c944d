"""Lines of ``org.apache.kafka.clients.NetworkClient``: what a follower's fetcher asks its leader, and what it hears."""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Answered, Asked, Event, Fetched, Refused
from tidemark.nodes.sidecar.lines import isr_lines, reasons
from tidemark.nodes.sidecar.lines.error_names import error_name
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplica, KnownReplicas, Question
from tidemark.nodes.sidecar.lines.stamp import Head

_FETCHER = re.compile(
    r"\[ReplicaFetcher replicaId=\d+, leaderId=(\d+), fetcherId=(\d+)\] (Sending|Received) (FETCH|OFFSET_FOR_LEADER_EPOCH) "
)
_FETCH = re.compile(
    r"Fetch(?:Topic\(topic='([^']*)'(?:, topicId=([\w-]+))?, partitions=\["
    r"|Partition\(partition=(\d+), currentLeaderEpoch=(-?\d+), fetchOffset=(\d+), lastFetchedEpoch=(-?\d+),)"
)
_OF_TOPIC = "FetchableTopicResponse("
_OF_PARTITION = "PartitionData(partitionIndex="
_OF_PARTITION_BEFORE_3 = "FetchablePartitionResponse(partition="
_FETCHED_TOPIC = re.compile(r"topic='([^']*)'(?:, topicId=([\w-]+))?, ")
_FETCHED = re.compile(
    r"(\d+), errorCode=(-?\d+), highWatermark=-?\d+, .*?divergingEpoch=EpochEndOffset\(epoch=(-?\d+), endOffset=(-?\d+)\), "
    r".*?record(?:s|Set)=(?:null|MemoryRecords\(size=(\d+),)"
)
_ASK = re.compile(
    r"OffsetForLeaderTopic\(topic='([^']*)', partitions=\["
    r"|OffsetForLeaderPartition\(partition=(\d+), currentLeaderEpoch=(-?\d+), leaderEpoch=(-?\d+)\)"
)
_ANSWER = re.compile(
    r"OffsetForLeaderTopicResult\(topic='([^']*)', partitions=\["
    r"|EpochEndOffset\(errorCode=(-?\d+), partition=(\d+), leaderEpoch=(-?\d+), endOffset=(-?\d+)\)"
)


def read(replicas: KnownReplicas, head: Head) -> list[Event]:
    """A line's events."""
    message = head.message
    of = _FETCHER.match(message)
    if of is None:
        if " Sending ALTER_" in message:
            return isr_lines.read_request(replicas, message)
        return []
    leader, fetcher, direction, kind = of.groups()
    own = f"{leader}/{fetcher}"
    if kind == "FETCH":
        if direction == "Sending":
            return _fetch(replicas, own, message)
        return _fetched(replicas, own, int(leader), message)
    if direction == "Sending":
        return _ask(replicas, own, int(leader), message)
    return _answered(replicas, own, int(leader), message)


def _fetch(replicas: KnownReplicas, fetcher: str, message: str) -> list[Event]:
    topic = ""
    for name, topic_id, index, current, offset, epoch in _FETCH.findall(message, message.find(" topics=[")):
        if not index:
            topic = replicas.topic(name, topic_id)
        elif topic:
            replicas[f"{topic}-{index}"].fetching[fetcher] = Question(int(current), int(epoch), int(offset))
    return []


def _fetched(replicas: KnownReplicas, fetcher: str, leader: int, message: str) -> list[Event]:
    events: list[Event] = []
    for told in message.split(_OF_TOPIC)[1:]:
        of = _FETCHED_TOPIC.match(told)
        topic = replicas.topic(of[1], of[2]) if of is not None else ""
        for part in told.replace(_OF_PARTITION_BEFORE_3, _OF_PARTITION).split(_OF_PARTITION)[1:]:
            found = _FETCHED.match(part)
            if found is not None and topic:
                events += _fetched_partition(replicas[f"{topic}-{found[1]}"], fetcher, leader, found)
    return events


def _fetched_partition(replica: KnownReplica, fetcher: str, leader: int, found: re.Match[str]) -> list[Event]:
    question = replica.fetching.get(fetcher)
    if question is None or _void(replica, question):
        return []
    error, epoch, end = int(found[2]), int(found[3]), int(found[4])
    if error:
        words = f"leader {leader} refused a fetch from offset {question.offset}: {error_name(error)}"
        return [Refused(replica.name, words)]
    if epoch >= 0 or end >= 0:
        return [_heard(replica, question, epoch, end)]
    return [Fetched(replica.name, leader, int(found[5] or 0))]


def _ask(replicas: KnownReplicas, fetcher: str, leader: int, message: str) -> list[Event]:
    events: list[Event] = []
    topic = ""
    for name, index, current, epoch in _ASK.findall(message):
        if not index:
            topic = name
        else:
            replica = replicas[f"{topic}-{index}"]
            replica.asking[fetcher] = Question(int(current), int(epoch))
            events.append(Asked(replica.name, leader, int(epoch)))
    return events


def _answered(replicas: KnownReplicas, fetcher: str, leader: int, message: str) -> list[Event]:
    events: list[Event] = []
    topic = ""
    for name, error, index, epoch, end in _ANSWER.findall(message):
        if not index:
            topic = name
            continue
        replica = replicas[f"{topic}-{index}"]
        question = replica.asking.get(fetcher)
        if question is None or _void(replica, question):
            continue
        if int(error):
            words = f"leader {leader} refused to tell the end of epoch {question.epoch}: {error_name(int(error))}"
            events.append(Refused(replica.name, words))
        else:
            events.append(_heard(replica, question, int(epoch), int(end)))
    return events


def _heard(replica: KnownReplica, question: Question, epoch: int, end: int) -> Answered:
    # Lines that follow say so if the follower makes something else of the answer.
    replica.reason = reasons.to_common_epoch(epoch) if epoch >= 0 else reasons.to_leaders_offset(end)
    return Answered(replica.name, question.epoch, question.offset, epoch, end)


def _void(replica: KnownReplica, question: Question) -> bool:
    """The replica has another role, or another leader epoch, than when it asked."""
    return replica.leading is not False or 0 <= question.current != replica.leader_epoch
