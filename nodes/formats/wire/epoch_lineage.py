"""OffsetForLeaderEpoch, version 4, with epochs of the asker and their ends: KIP-279's rejected alternative 2.

The fields are Kafka's (``OffsetForLeaderEpochRequest.json`` of 2.8 and later; version 4 is the first flexible one), and so is the
response. The lineage is ours. It rides in a tagged field of the partition, with a tag that no Kafka version uses; whoever does not
know the tag skips it, and answers as Kafka does. The request is declared as kio declares its own entities, so that kio reads and
writes it; it looks at the types, so they must not be strings.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.types import BrokerId, TopicName
from kio.static.constants import EntityType
from kio.static.primitive import i16, i32, i64

VERSION = 4
LINEAGE_TAG = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochOfAsker:
    """An epoch in the asker's log, and its exclusive end there."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(23)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    leader_epoch: i32 = field(metadata={"kafka_type": "int32"})
    end_offset: i64 = field(metadata={"kafka_type": "int64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetForLeaderPartition:
    """The question about one partition."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(23)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    partition: i32 = field(metadata={"kafka_type": "int32"})
    current_leader_epoch: i32 = field(metadata={"kafka_type": "int32"}, default=i32(-1))
    leader_epoch: i32 = field(metadata={"kafka_type": "int32"})
    lineage: tuple[EpochOfAsker, ...] = field(metadata={"tag": LINEAGE_TAG}, default=())
    """Ours: oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetForLeaderTopic:
    """The questions about one topic."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(23)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    topic: TopicName = field(metadata={"kafka_type": "string"})
    partitions: tuple[OffsetForLeaderPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetForLeaderEpochRequest:
    """The request of broker ``replica_id``."""

    __type__: ClassVar = EntityType.request
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(23)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    replica_id: BrokerId = field(metadata={"kafka_type": "int32"}, default=BrokerId(-2))
    topics: tuple[OffsetForLeaderTopic, ...]
