"""ListOffsets: where a partition begins and ends for consumers, or where the records of a time begin (KIP-79)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.nodes.core.epoch_cache import UNDEFINED
from tidemark.nodes.formats.record_batch import Records
from tidemark.nodes.formats.wire.names import error_code, partition_name
from tidemark.nodes.process.wire.client_entities import LIST_OFFSETS, NO_THROTTLE, response_entity
from tidemark.nodes.process.wire.client_partitions import NO_EPOCH

if TYPE_CHECKING:
    from tidemark.nodes.process.wire.client_partitions import Partitions
    from tidemark.nodes.process.wire.server import Request

LATEST, EARLIEST = -1, -2
"""Timestamps that are none."""

UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
LEADER_NOT_AVAILABLE = "LEADER_NOT_AVAILABLE"
OFFSET_NOT_AVAILABLE = "OFFSET_NOT_AVAILABLE"

_WITH_EPOCH = 4
_WITH_OFFSET_NOT_AVAILABLE = 5


class _Place(NamedTuple):
    """An offset, the time that was found there (ms), and its leader epoch; −1 is none."""

    offset: int
    timestamp: int
    epoch: int


_NOWHERE = _Place(-1, -1, -1)


class ListOffsetsApi:
    """Answers from the log and the high watermark of a partition that this node leads."""

    def __init__(self, partitions: Partitions, *, monotonic: bool) -> None:
        """``monotonic`` is KIP-207: the end is not told until a new leader's high watermark has reached its epoch's start."""
        self._partitions = partitions
        self._monotonic = monotonic

    def handle(self, request: Request) -> None:
        """Answer at once."""
        version = request.api_version
        topic = response_entity(LIST_OFFSETS, version, "ListOffsetsTopicResponse")
        response = response_entity(LIST_OFFSETS, version, "ListOffsetsResponse")
        topics = tuple(
            topic(
                name=asked.name,
                partitions=tuple(self._partition(version, asked.name, one) for one in asked.partitions),
            )
            for asked in request.body.topics
        )
        request.reply(response(throttle_time=NO_THROTTLE, topics=topics))

    def _partition(self, version: int, topic: str, asked: Any) -> Any:  # noqa: ANN401 (kio's, by version)
        epoch = asked.current_leader_epoch if version >= _WITH_EPOCH else NO_EPOCH
        replica = self._partitions.led(partition_name(topic, asked.partition_index), epoch)
        found = replica if isinstance(replica, str) else self._look(replica, asked.timestamp, version)
        error, place = (found, _NOWHERE) if isinstance(found, str) else (None, found)
        made = response_entity(LIST_OFFSETS, version, "ListOffsetsPartitionResponse")
        return made(
            partition_index=asked.partition_index,
            error_code=error_code(error),
            timestamp=place.timestamp,
            offset=place.offset,
            leader_epoch=place.epoch,
        )

    def _look(self, replica: Any, timestamp: int, version: int) -> _Place | str:  # noqa: ANN401 (of any family)
        log = replica.log
        if timestamp == EARLIEST:
            epochs = replica.cache.entries()
            return _Place(log.start, -1, epochs[0][0] if epochs and log.start == epochs[0][1] else UNDEFINED)
        if timestamp < LATEST:
            return UNSUPPORTED_VERSION
        if self._monotonic and replica.leading and replica.hw < replica.leading.epoch_start:
            return OFFSET_NOT_AVAILABLE if version >= _WITH_OFFSET_NOT_AVAILABLE else LEADER_NOT_AVAILABLE
        if timestamp == LATEST:
            return _Place(replica.hw, -1, replica.cache.latest)
        return _first_since(replica, timestamp)


def _first_since(replica: Any, timestamp: int) -> _Place:  # noqa: ANN401 (of any family)
    """The first committed batch whose latest record is not older; records within it are not looked at, but for the log start."""
    start = replica.log.start
    for batch in replica.log.batches:
        if batch.end > replica.hw:
            break
        if batch.end > start and isinstance(batch.values, Records):
            latest = batch.values.header().max_timestamp
            if latest >= timestamp:
                return _Place(max(batch.base, start), latest, batch.epoch)
    return _NOWHERE
