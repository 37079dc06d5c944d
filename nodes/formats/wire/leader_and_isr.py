"""LeaderAndIsr, version 4, by which the controller tells a broker the state of partitions.

kio leaves this API out, because Kafka 4.0 dropped it with ZooKeeper. The fields and their order are Kafka's
(``LeaderAndIsrRequest.json`` of 2.4 to 3.9; version 4 is the first flexible one). They are declared as kio declares its own
entities, so that kio reads and writes them; it looks at the types, so they must not be strings.

Two fields are ours: which replicas could be in the ISR now (KIP-841's knowledge, which a KRaft broker has from its metadata
log), and whether the broker is to delete what it has of the partition (which Kafka asks for with a StopReplica request). They ride
in tagged fields of the partition state, with tags that no Kafka version uses; whoever does not know a tag skips it.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from kio.schema.errors import ErrorCode
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import BrokerId, TopicName
from kio.static.constants import EntityType
from kio.static.primitive import i16, i32, i64

VERSION = 4
ELIGIBLE_TAG, DELETE_TAG = 10_000, 10_001


def _is(kafka_type: str) -> dict[str, object]:
    return {"kafka_type": kafka_type}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsrPartitionState:
    """One partition, as the controller has it."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    partition_index: i32 = field(metadata=_is("int32"))
    controller_epoch: i32 = field(metadata=_is("int32"))
    leader: BrokerId = field(metadata=_is("int32"))
    leader_epoch: i32 = field(metadata=_is("int32"))
    isr: tuple[BrokerId, ...] = field(metadata=_is("int32"))
    partition_epoch: i32 = field(metadata=_is("int32"))
    """``ZkVersion``, ``PartitionEpoch`` since 3.2."""
    replicas: tuple[BrokerId, ...] = field(metadata=_is("int32"))
    adding_replicas: tuple[BrokerId, ...] = field(metadata=_is("int32"), default=())
    removing_replicas: tuple[BrokerId, ...] = field(metadata=_is("int32"), default=())
    is_new: bool = field(metadata=_is("bool"), default=False)
    eligible: tuple[BrokerId, ...] = field(metadata={"kafka_type": "int32", "tag": ELIGIBLE_TAG}, default=())
    """Ours: replicas that are neither fenced nor shutting down."""
    delete: bool = field(metadata={"kafka_type": "bool", "tag": DELETE_TAG}, default=False)
    """Ours: the broker is no replica, and is to delete its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicState:
    """The partitions of one topic."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    topic_name: TopicName = field(metadata=_is("string"))
    partition_states: tuple[LeaderAndIsrPartitionState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLeader:
    """Where a leader is; nodes leave the list empty, as they know each other's addresses."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    broker_id: BrokerId = field(metadata=_is("int32"))
    host_name: str = field(metadata=_is("string"))
    port: i32 = field(metadata=_is("int32"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsrRequest:
    """The request; ``broker_epoch`` names the incarnation it is meant for (KIP-380)."""

    __type__: ClassVar = EntityType.request
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    controller_id: BrokerId = field(metadata=_is("int32"))
    controller_epoch: i32 = field(metadata=_is("int32"))
    broker_epoch: i64 = field(metadata=_is("int64"), default=i64(-1))
    topic_states: tuple[TopicState, ...]
    live_leaders: tuple[LiveLeader, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionError:
    """What became of one partition's state."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    topic_name: TopicName = field(metadata=_is("string"))
    partition_index: i32 = field(metadata=_is("int32"))
    error_code: ErrorCode = field(metadata=_is("error_code"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsrResponse:
    """The response; its error speaks for the whole request."""

    __type__: ClassVar = EntityType.response
    __version__: ClassVar[i16] = i16(VERSION)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(4)
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    error_code: ErrorCode = field(metadata=_is("error_code"))
    partition_errors: tuple[PartitionError, ...]
