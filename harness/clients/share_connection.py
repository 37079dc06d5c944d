"""What a member of a share group says on the wire (KIP-932): to the group's coordinator that it is there, to the leader of a
partition that it takes records, and what became of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1.request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kio.schema.metadata.v12.request import MetadataRequest, MetadataRequestTopic
from kio.schema.share_acknowledge.v1 import request as acknowledging
from kio.schema.share_fetch.v1 import request as fetching
from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest
from kio.schema.types import GroupId, TopicName
from kio.schema.update_features.v1.request import FeatureUpdateKey, UpdateFeaturesRequest
from kio.static.primitive import i8, i16, i32, i64

from tidemark.harness.clients.group_offsets import GroupConnection
from tidemark.harness.clients.wire_client import Address, NoAnswerError, check, milliseconds
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.message_set import scan
from tidemark.nodes.formats.record_batch import is_control

METADATA, INCREMENTAL_ALTER_CONFIGS, UPDATE_FEATURES = 3, 44, 57
SHARE_GROUP_HEARTBEAT, SHARE_FETCH, SHARE_ACKNOWLEDGE = 76, 78, 79
OF_GROUP, SET = 32, 0
LEAVES = -1
"""The epoch of a member that leaves."""
GAP, ACCEPT, RELEASE, REJECT = "gap", "accept", "release", "reject"
TYPES = {GAP: 0, ACCEPT: 1, RELEASE: 2, REJECT: 3}
_MOST_BYTES = 1 << 20


class Layout(NamedTuple):
    """A topic's id, and who leads its partitions, as far as a broker knows."""

    topic_id: UUID
    leaders: Mapping[int, tuple[int, Address]]


class Heartbeat(NamedTuple):
    """A member's epoch, when it is to be heard of again, and its partitions, None if these have not changed."""

    epoch: int
    interval_s: float
    assigned: tuple[int, ...] | None


class Delivered(NamedTuple):
    """A record that a member was given: its value, None if there is none at the offset; and how often it was given to anybody."""

    offset: int
    value: int | None
    deliveries: int


class Fetched(NamedTuple):
    """Of one partition."""

    error: ErrorCode
    records: tuple[Delivered, ...]


class ShareConnection(GroupConnection):
    """A connection to a broker, which may be the group's coordinator or lead a partition."""

    versions: Mapping[int, int] = {
        **GroupConnection.versions,
        METADATA: 12,
        INCREMENTAL_ALTER_CONFIGS: 1,
        UPDATE_FEATURES: 1,
        SHARE_GROUP_HEARTBEAT: 1,
        SHARE_FETCH: 1,
        SHARE_ACKNOWLEDGE: 1,
    }

    def layout(self, topic: str) -> Layout:
        """Raises: NoAnswerError: see there. RefusedError: the broker's error."""
        wanted = MetadataRequestTopic(topic_id=None, name=TopicName(topic))
        asked = MetadataRequest(
            topics=(wanted,), allow_auto_topic_creation=False, include_topic_authorized_operations=False
        )
        self._send(METADATA, asked)
        answer = self._receive(METADATA)
        found = self._only(answer.topics)
        check(found.error_code)
        at = {int(one.node_id): (one.host, int(one.port)) for one in answer.brokers}
        leaders = {
            int(one.partition_index): (int(one.leader_id), at[int(one.leader_id)])
            for one in found.partitions
            if int(one.leader_id) in at
        }
        return Layout(found.topic_id, leaders)

    def enable(self, feature: str, level: int) -> None:
        """Raises: NoAnswerError: see there. RefusedError: the controller's error."""
        update = FeatureUpdateKey(feature=feature, max_version_level=i16(level))
        self._send(UPDATE_FEATURES, UpdateFeaturesRequest(feature_updates=(update,)))
        answer = self._receive(UPDATE_FEATURES)
        for one in (answer, *answer.results):
            check(one.error_code)

    def configure(self, group: str, config: Mapping[str, str]) -> None:
        """Give a group its settings. Raises: NoAnswerError: see there. RefusedError: the controller's error."""
        configs = tuple(
            AlterableConfig(name=name, config_operation=i8(SET), value=value) for name, value in config.items()
        )
        resource = AlterConfigsResource(resource_type=i8(OF_GROUP), resource_name=group, configs=configs)
        self._send(
            INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
        )
        check(self._only(self._receive(INCREMENTAL_ALTER_CONFIGS).responses).error_code)

    def heartbeat(self, group: str, member: str, epoch: int, topic: str) -> Heartbeat:
        """Join with epoch 0, stay with the one that was answered, or leave with `LEAVES`.

        Raises:
            NoAnswerError: see there. RefusedError: the coordinator's error.
        """
        asked = ShareGroupHeartbeatRequest(
            group_id=GroupId(group),
            member_id=member,
            member_epoch=i32(epoch),
            subscribed_topic_names=(TopicName(topic),) if epoch == 0 else None,
        )
        self._send(SHARE_GROUP_HEARTBEAT, asked)
        answer = self._receive(SHARE_GROUP_HEARTBEAT)
        check(answer.error_code)
        assigned = answer.assignment
        return Heartbeat(
            int(answer.member_epoch),
            answer.heartbeat_interval.total_seconds(),
            None if assigned is None else tuple(int(p) for of in assigned.topic_partitions for p in of.partitions),
        )

    def share_fetch(
        self,
        whose: tuple[str, str],
        session_epoch: int,
        of: tuple[UUID, Iterable[int]],
        most: int,
        wait_ms: int,
        forgotten: Iterable[int] = (),
    ) -> dict[int, Fetched]:
        """Acquire records: for each partition that was answered, its error and what was given.

        Args:
            whose: group, member.
            session_epoch: 0 begins a session, and each further request of it has the next number.
            of: the topic's id, and partitions that this broker leads.
            most: so many records, if batches allow.
            wait_ms: how long the broker may wait for some.
            forgotten: partitions that are no longer part of the session; records of them stay acquired until their locks are over.

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic_id, partitions = of
        dropped = tuple(i32(one) for one in forgotten)
        wanted = tuple(
            fetching.FetchPartition(partition_index=i32(one), acknowledgement_batches=()) for one in partitions
        )
        asked = fetching.ShareFetchRequest(
            group_id=GroupId(whose[0]),
            member_id=whose[1],
            share_session_epoch=i32(session_epoch),
            max_wait=milliseconds(wait_ms),
            min_bytes=i32(1),
            max_bytes=i32(_MOST_BYTES),
            max_records=i32(most),
            batch_size=i32(most),
            topics=(fetching.FetchTopic(topic_id=topic_id, partitions=wanted),) if wanted else (),
            forgotten_topics_data=(fetching.ForgottenTopic(topic_id=topic_id, partitions=dropped),) if dropped else (),
        )
        self._send(SHARE_FETCH, asked)
        answer = self._receive(SHARE_FETCH)
        check(answer.error_code)
        return {
            int(one.partition_index): Fetched(one.error_code, _delivered(one))
            for topic in answer.responses
            for one in topic.partitions
        }

    def share_acknowledge(
        self,
        whose: tuple[str, str],
        session_epoch: int,
        of: tuple[UUID, int],
        decisions: Sequence[tuple[int, str]],
    ) -> None:
        """Say what became of records of a partition, as (offset, one of `TYPES`).

        Raises:
            NoAnswerError: see there. RefusedError: the broker's error.
        """
        topic_id, partition = of
        batches = tuple(
            acknowledging.AcknowledgementBatch(
                first_offset=i64(first), last_offset=i64(last), acknowledge_types=(i8(TYPES[how]),)
            )
            for first, last, how in in_batches(decisions)
        )
        wanted = acknowledging.AcknowledgePartition(partition_index=i32(partition), acknowledgement_batches=batches)
        asked = acknowledging.ShareAcknowledgeRequest(
            group_id=GroupId(whose[0]),
            member_id=whose[1],
            share_session_epoch=i32(session_epoch),
            topics=(acknowledging.AcknowledgeTopic(topic_id=topic_id, partitions=(wanted,)),),
        )
        self._send(SHARE_ACKNOWLEDGE, asked)
        answer = self._receive(SHARE_ACKNOWLEDGE)
        check(answer.error_code)
        told = [one for topic in answer.responses for one in topic.partitions if int(one.partition_index) == partition]
        if len(told) != 1:
            raise NoAnswerError(f"partition {partition} was acknowledged, and {len(told)} partitions were answered")
        check(told[0].error_code)


def in_batches(decisions: Iterable[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """First and last offset of those that follow each other and are alike, as clients put them together.

    >>> in_batches([(3, "accept"), (4, "accept"), (5, "release"), (7, "release")])
    [(3, 4, 'accept'), (5, 5, 'release'), (7, 7, 'release')]
    """
    found: list[tuple[int, int, str]] = []
    for offset, how in decisions:
        if found and found[-1][1:] == (offset - 1, how):
            found[-1] = (found[-1][0], offset, how)
        else:
            found.append((offset, offset, how))
    return found


def _delivered(answer: Any) -> tuple[Delivered, ...]:  # noqa: ANN401 - kio's PartitionData
    """Each offset that was acquired, once for each time that it is named."""
    fetched = bytes(answer.records or b"")
    try:
        entries = list(scan(lambda position, size: fetched[position : position + size], len(fetched)))
        values = {
            offset: value
            for entry in entries
            if not is_control(entry.raw)
            for offset, value in enumerate(entry.values, entry.base)
        }
    except BadBatchError as error:
        raise NoAnswerError(f"the records cannot be read: {error}") from None
    return tuple(
        Delivered(offset, values.get(offset), int(one.delivery_count))
        for one in answer.acquired_records
        for offset in range(int(one.first_offset), int(one.last_offset) + 1)
    )
