"""OffsetForLeaderEpoch between a follower and its leader, in the version of the follower's rule.

* 3: the first that says who asks. Kafka's brokers before KIP-320 spoke version 0 or 1, which kio no longer has; they differ in
  fields that the core of such a variant does not look at (the asker's epoch) or answers as −1 (the epoch found, in ``kafka-0.11``).
* 4: the first with room for the epochs that a follower with ``truncation=lineage`` sends
(:mod:`tidemark.nodes.formats.wire.epoch_lineage`).
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from kio.index import load_payload_module
from kio.static.constants import EntityType

from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, EpochResponse
from tidemark.nodes.formats.wire import epoch_lineage
from tidemark.nodes.formats.wire.codec import OFFSET_FOR_LEADER_EPOCH
from tidemark.nodes.formats.wire.names import (
    MeaninglessError,
    error_code,
    error_name,
    only_partition,
    partition_name,
    topic_and_index,
)

if TYPE_CHECKING:
    from tidemark.nodes.core.truncation import TruncationRule

VERSIONS = VERSION, LINEAGE_VERSION = 3, epoch_lineage.VERSION
"""Without the epochs of the asker, and with them."""

_NO_TIME = timedelta(0)


def epoch_version(rule: TruncationRule) -> int:
    """The version that a follower of this rule asks in."""
    return LINEAGE_VERSION if rule.sends_lineage else VERSION


def request(m: EpochRequest, version: int) -> object:
    """The request that says what the core says."""
    kinds: Any = epoch_lineage if version == LINEAGE_VERSION else _kinds(version, EntityType.request)
    topic, index = topic_and_index(m.partition)
    asked: dict[str, Any] = {"partition": index, "current_leader_epoch": m.current_epoch, "leader_epoch": m.epoch}
    if version == LINEAGE_VERSION:
        asked["lineage"] = tuple(kinds.EpochOfAsker(leader_epoch=epoch, end_offset=end) for epoch, end in m.lineage)
    topics = (kinds.OffsetForLeaderTopic(topic=topic, partitions=(kinds.OffsetForLeaderPartition(**asked),)),)
    return kinds.OffsetForLeaderEpochRequest(replica_id=m.source, topics=topics)


def message(entity: Any, version: int, correlation: int) -> EpochRequest:  # noqa: ANN401 (one of two versions)
    """What a follower's request says.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topics)
    name = partition_name(topic.topic, part.partition)
    sent = part.lineage if version == LINEAGE_VERSION else ()
    lineage = tuple(EpochEnd(one.leader_epoch, one.end_offset) for one in sent)
    return EpochRequest(entity.replica_id, name, part.leader_epoch, part.current_leader_epoch, correlation, lineage)


def response(m: EpochResponse, version: int) -> object:
    """The response that says what the core says, in the version of the question."""
    kinds = _kinds(version, EntityType.response)
    topic, index = topic_and_index(m.partition)
    part = kinds.EpochEndOffset(
        error_code=error_code(m.error), partition=index, leader_epoch=m.answer.epoch, end_offset=m.answer.offset
    )
    topics = (kinds.OffsetForLeaderTopicResult(topic=topic, partitions=(part,)),)
    return kinds.OffsetForLeaderEpochResponse(throttle_time=_NO_TIME, topics=topics)


def answer(entity: Any, asked: EpochRequest, source: int) -> EpochResponse:  # noqa: ANN401 (one of two versions)
    """What the leader's response to ``asked`` says.

    Raises:
        MeaninglessError: it is not about the partition that was asked for.
    """
    topic, part = only_partition(entity.topics)
    if partition_name(topic.topic, part.partition) != asked.partition:
        raise MeaninglessError(f"an answer about another partition than {asked.partition}")
    end = EpochEnd(part.leader_epoch, part.end_offset)
    return EpochResponse(source, asked.partition, asked.correlation, end, error_name(part.error_code))


@cache
def _kinds(version: int, of: Literal[EntityType.request, EntityType.response]) -> Any:  # noqa: ANN401 (a module)
    return load_payload_module(OFFSET_FOR_LEADER_EPOCH, version, of)
