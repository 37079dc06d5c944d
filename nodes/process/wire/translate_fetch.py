"""Fetch between a follower and its leader.

The version follows the variant, and the broker's own truncation rule, as Kafka's inter-broker versions did, because each of its
rules came with a field:

* 8: no leader epoch in it (up to ``kafka-2.0``)
* 11: the current leader epoch (KIP-320; 9 brought the field)
* 12: the last fetched epoch, and a diverging epoch in the response (KIP-595)
* 15: the broker epoch (KIP-903), and topic ids for names

A request is about one partition. The leader's log end, which the core wants for followers that are out of range, rides in
``last_stable_offset``: there are no transactions that could use it. Log starts have their own fields (KIP-107, since version 5).
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from kio.index import load_payload_module
from kio.static.constants import EntityType

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import FetchRequest, FetchResponse
from tidemark.nodes.formats.record_batch import Records, read_header, split
from tidemark.nodes.formats.wire.codec import FETCH
from tidemark.nodes.formats.wire.names import (
    MeaninglessError,
    error_code,
    error_name,
    only_partition,
    partition_name,
    topic_and_index,
    topic_id,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant

VERSIONS = 8, 15
"""The lowest and the highest that a leader understands."""

MAX_FETCH_BYTES = 8 << 20
"""``replica.fetch.response.max.bytes`` (Kafka: 10 MiB); the first batch is sent however large it is."""

_NO_TIME = timedelta(0)


def fetch_version(variant: Variant, broker: int) -> int:
    """The Fetch version that this broker speaks as a follower."""
    if variant.broker_epoch_checks:
        return 15
    if variant.rule_of(broker).epoch_in_fetch:
        return 12
    return 11 if variant.fences & {"fetch", "hw", "isr"} else 8


class FetchTranslation:
    """Fetch, in one broker's version.

    Attributes:
        version: of the requests that are sent. All of :data:`VERSIONS` are understood.
    """

    def __init__(self, version: int, settings: Settings, topics: Mapping[UUID, str]) -> None:
        """Know the version, the settings that requests name, and the topics by their ids."""
        self.version = version
        self._topics = topics
        self._max_wait = timedelta(microseconds=settings.fetch_wait_us)
        self._request = load_payload_module(FETCH, self.version, EntityType.request)

    def request(self, m: FetchRequest) -> object:
        """The request that says what the core says."""
        kinds: Any = self._request
        topic, index = topic_and_index(m.partition)
        part: dict[str, Any] = {
            "partition": index,
            "fetch_offset": m.offset,
            "log_start_offset": m.start,
            "partition_max_bytes": MAX_FETCH_BYTES,
        }
        whole: dict[str, Any] = {
            "max_wait": self._max_wait,
            "min_bytes": 1,
            "max_bytes": MAX_FETCH_BYTES,
            "forgotten_topics_data": (),
        }
        if self.version >= 9:
            part["current_leader_epoch"] = m.leader_epoch
        if self.version >= 12:
            part["last_fetched_epoch"] = m.last_fetched_epoch
        if self.version >= 15:
            whole["replica_state"] = kinds.ReplicaState(replica_id=m.source, replica_epoch=m.broker_epoch)
        else:
            whole["replica_id"] = m.source
        name = {"topic_id": topic_id(topic)} if self.version >= 13 else {"topic": topic}
        topics = (kinds.FetchTopic(**name, partitions=(kinds.FetchPartition(**part),)),)
        return kinds.FetchRequest(**whole, topics=topics)

    def message(self, entity: Any, version: int, correlation: int) -> FetchRequest:  # noqa: ANN401 (one of many versions)
        """What a follower's request says.

        Raises:
            MeaninglessError: it is not about exactly one partition, or about an unknown topic id.
        """
        found, part = only_partition(entity.topics)
        if version >= 13:
            name = self._topics.get(found.topic_id)
            if name is None:
                raise MeaninglessError(f"nobody knows a topic with the id {found.topic_id}")
        else:
            name = found.topic
        source, broker_epoch = replica_of(entity, version)
        return FetchRequest(
            source,
            partition_name(name, part.partition),
            part.fetch_offset,
            part.current_leader_epoch if version >= 9 else UNDEFINED,
            part.last_fetched_epoch if version >= 12 else UNDEFINED,
            broker_epoch,
            correlation,
            part.log_start_offset,
        )

    def response(self, m: FetchResponse, version: int) -> object:
        """The response that says what the core says. Reads the batches from the log, as they lie there now."""
        kinds = _response_kinds(version)
        topic, index = topic_and_index(m.partition)
        part: dict[str, Any] = {
            "partition_index": index,
            "error_code": error_code(m.error),
            "high_watermark": m.hw,
            "last_stable_offset": m.leo,
            "log_start_offset": m.start,
            "aborted_transactions": None,
            "records": _raw(m.batches),
        }
        if m.diverging is not None and version >= 12:
            part["diverging_epoch"] = kinds.EpochEndOffset(epoch=m.diverging.epoch, end_offset=m.diverging.offset)
        name = {"topic_id": topic_id(topic)} if version >= 13 else {"topic": topic}
        topics = (kinds.FetchableTopicResponse(**name, partitions=(kinds.PartitionData(**part),)),)
        return kinds.FetchResponse(throttle_time=_NO_TIME, error_code=error_code(None), responses=topics)

    def answer(self, entity: Any, asked: FetchRequest, source: int) -> FetchResponse:  # noqa: ANN401 (one of many versions)
        """What the leader's response to ``asked`` says.

        Raises:
            MeaninglessError: it is not about the partition that was asked for.
            tidemark.nodes.formats.record_batch.BadBatchError: a batch is damaged.
        """
        _, part = only_partition(entity.responses)
        if part.partition_index != topic_and_index(asked.partition)[1]:
            raise MeaninglessError(f"an answer about another partition than {asked.partition}")
        diverging = None
        if self.version >= 12 and part.diverging_epoch.end_offset != UNDEFINED:
            diverging = EpochEnd(part.diverging_epoch.epoch, part.diverging_epoch.end_offset)
        return FetchResponse(
            source,
            asked.partition,
            asked.correlation,
            [_batch(raw) for raw in split(part.records or b"")],
            part.high_watermark,
            part.last_stable_offset,
            error_name(part.error_code),
            diverging,
            part.log_start_offset,
        )


@cache
def _response_kinds(version: int) -> Any:  # noqa: ANN401 (a module)
    return load_payload_module(FETCH, version, EntityType.response)


def replica_of(entity: Any, version: int) -> tuple[int, int]:  # noqa: ANN401 (one of many versions)
    """The broker whose fetch this is (−1: a consumer's), and its broker epoch."""
    if version >= 15:
        return entity.replica_state.replica_id, entity.replica_state.replica_epoch
    return entity.replica_id, UNDEFINED


def _raw(batches: list[Batch]) -> bytes:
    parts: list[bytes] = []
    size = 0
    for batch in batches:
        values = batch.values
        assert isinstance(values, Records)  # noqa: S101 (what this process keeps in its logs)
        if parts and size + values.size > MAX_FETCH_BYTES:
            break
        size += values.size
        parts.append(values.raw())
    return b"".join(parts)


def _batch(raw: bytes) -> Batch:
    header = read_header(raw)
    return Batch(header.base_offset, header.leader_epoch, Records(raw))
