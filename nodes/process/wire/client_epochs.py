"""OffsetForLeaderEpoch for consumers: where does the epoch of my last record end now? (KIP-320)

A consumer that gets a smaller offset than its position knows that the log was cut. Followers ask the same (the driver answers
them through the core); a consumer's answer comes from the same epoch cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.epoch_cache import NO_EPOCH_END
from tidemark.nodes.core.truncation.rule import Question
from tidemark.nodes.formats.wire.codec import OFFSET_FOR_LEADER_EPOCH
from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_entities import NO_THROTTLE, response_entity
from tidemark.nodes.process.wire.client_partitions import NO_EPOCH

if TYPE_CHECKING:
    from tidemark.nodes.core.variant import Variant
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Request


class EpochsApi:
    """Answers as the truncation rule has leaders answer, fenced where truncation is."""

    def __init__(self, partitions: Partitions, variant: Variant) -> None:
        self._partitions = partitions
        self._fenced = "truncation" in variant.fences

    def handle(self, request: Request) -> None:
        """Answer at once."""
        version = request.api_version
        result = response_entity(OFFSET_FOR_LEADER_EPOCH, version, "OffsetForLeaderTopicResult")
        response = response_entity(OFFSET_FOR_LEADER_EPOCH, version, "OffsetForLeaderEpochResponse")
        topics = tuple(
            result(
                topic=asked.topic,
                partitions=tuple(self._partition(version, asked.topic, one) for one in asked.partitions),
            )
            for asked in request.body.topics
        )
        request.reply(response(throttle_time=NO_THROTTLE, topics=topics))

    def _partition(self, version: int, topic: str, asked: Any) -> Any:  # noqa: ANN401 (kio's, by version)
        current = asked.current_leader_epoch if self._fenced else NO_EPOCH
        replica = self._partitions.led(partition_name(topic, asked.partition), current)
        error, end = (
            (replica, NO_EPOCH_END)
            if isinstance(replica, str)
            else (None, replica.rule.leaders_answer(replica, Question(asked.leader_epoch)))
        )
        made = response_entity(OFFSET_FOR_LEADER_EPOCH, version, "EpochEndOffset")
        return made(
            error_code=error_code(error),
            partition=asked.partition,
            leader_epoch=end.epoch,
            end_offset=end.offset,
        )
