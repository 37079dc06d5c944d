"""OffsetForLeaderEpoch between a follower and its leader, in version 3: the first that says who asks.

Kafka's brokers before KIP-320 spoke version 0 or 1, which kio no longer has; they differ in fields that the core of such a
variant does not look at (the asker's epoch) or answers as −1 (the epoch found, in ``kafka-0.11``).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kio.schema.offset_for_leader_epoch.v3 import request as _request
from kio.schema.offset_for_leader_epoch.v3 import response as _response

from nodes.core.epoch_cache import EpochEnd
from nodes.core.messages import EpochRequest, EpochResponse
from nodes.formats.wire.names import (
    MeaninglessError,
    error_code,
    error_name,
    only_partition,
    partition_name,
    topic_and_index,
)

VERSION = 3

_ASK: Any = _request
_TELL: Any = _response
_NO_TIME = timedelta(0)


def request(m: EpochRequest) -> object:
    """The request that says what the core says."""
    topic, index = topic_and_index(m.partition)
    part = _ASK.OffsetForLeaderPartition(partition=index, current_leader_epoch=m.current_epoch, leader_epoch=m.epoch)
    topics = (_ASK.OffsetForLeaderTopic(topic=topic, partitions=(part,)),)
    return _ASK.OffsetForLeaderEpochRequest(replica_id=m.source, topics=topics)


def message(entity: Any, correlation: int) -> EpochRequest:  # noqa: ANN401 (kio's entity)
    """What a follower's request says.

    Raises:
        MeaninglessError: it is not about exactly one partition.
    """
    topic, part = only_partition(entity.topics)
    name = partition_name(topic.topic, part.partition)
    return EpochRequest(entity.replica_id, name, part.leader_epoch, part.current_leader_epoch, correlation)


def response(m: EpochResponse) -> object:
    """The response that says what the core says."""
    topic, index = topic_and_index(m.partition)
    part = _TELL.EpochEndOffset(
        error_code=error_code(m.error), partition=index, leader_epoch=m.answer.epoch, end_offset=m.answer.offset
    )
    topics = (_TELL.OffsetForLeaderTopicResult(topic=topic, partitions=(part,)),)
    return _TELL.OffsetForLeaderEpochResponse(throttle_time=_NO_TIME, topics=topics)


def answer(entity: Any, asked: EpochRequest, source: int) -> EpochResponse:  # noqa: ANN401 (kio's entity)
    """What the leader's response to ``asked`` says.

    Raises:
        MeaninglessError: it is not about the partition that was asked for.
    """
    topic, part = only_partition(entity.topics)
    if partition_name(topic.topic, part.partition) != asked.partition:
        raise MeaninglessError(f"an answer about another partition than {asked.partition}")
    end = EpochEnd(part.leader_epoch, part.end_offset)
    return EpochResponse(source, asked.partition, asked.correlation, end, error_name(part.error_code))
