"""LeaderAndIsr, version 4, by which the controller tells a broker the state of partitions.

kio leaves this API out, because Kafka 4.0 dropped it with ZooKeeper. The fields and their order are Kafka's
(``LeaderAndIsrRequest.json`` of 2.4 to 3.9; version 4 is the first flexible one).

Some fields are ours: which replicas could be in the ISR now (KIP-841's knowledge, which a KRaft broker has from its metadata
log), whether the broker is to delete what it has of the partition (which Kafka asks for with a StopReplica request), and what an
operator has set (which a broker reads in ZooKeeper). They ride in tagged fields of the partition state, with tags that no Kafka
version uses; whoever does not know a tag skips it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.static.constants import EntityType

from tidemark.nodes.formats.wire.own_entities import MayLack, entity

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 4
ELIGIBLE_TAG, DELETE_TAG = 10_000, 10_001
MIN_ISR_TAG, SETTINGS_TAG, UNCLEAN_TAG = 10_002, 10_003, 10_004


def _entity(
    name: str, shape: Mapping[str, Any], kind: EntityType = EntityType.nested, header: type = RequestHeader
) -> Any:  # noqa: ANN401 (a class)
    return entity(name, 4, kind, header, shape, VERSION)


LeaderAndIsrPartitionState = _entity(
    "LeaderAndIsrPartitionState",
    {
        **dict.fromkeys(("partition_index", "controller_epoch", "leader", "leader_epoch"), "int32"),
        "isr": "int32s",
        "partition_epoch": "int32",  # ``ZkVersion``, ``PartitionEpoch`` since 3.2
        "replicas": "int32s",
        "adding_replicas": MayLack("int32s", ()),
        "removing_replicas": MayLack("int32s", ()),
        "is_new": MayLack("bool", default=False),
        "eligible": MayLack("int32s", (), ELIGIBLE_TAG),  # ours: replicas that are neither fenced nor shutting down
        "delete": MayLack(
            "bool", default=False, tag=DELETE_TAG
        ),  # ours: the broker is no replica, and is to delete its log
        "min_isr": MayLack("int32", 0, MIN_ISR_TAG),  # ours: what an operator has set by now
        "settings": MayLack("int32", 0, SETTINGS_TAG),  # ours: how often it was set
        "unclean": MayLack("bool", default=False, tag=UNCLEAN_TAG),  # ours: whether unclean elections are allowed
    },
)
TopicState = _entity("TopicState", {"topic_name": "string", "partition_states": LeaderAndIsrPartitionState})
LiveLeader = _entity("LiveLeader", {"broker_id": "int32", "host_name": "string", "port": "int32"})
"""Where a leader is; nodes leave the list empty, as they know each other's addresses."""

LeaderAndIsrRequest = _entity(
    "LeaderAndIsrRequest",
    {
        "controller_id": "int32",
        "controller_epoch": "int32",
        "broker_epoch": MayLack("int64", -1),
        "topic_states": TopicState,
        "live_leaders": LiveLeader,
    },
    EntityType.request,
)
"""The request; ``broker_epoch`` names the incarnation it is meant for (KIP-380)."""

PartitionError = _entity(
    "PartitionError",
    {"topic_name": "string", "partition_index": "int32", "error_code": "error_code"},
    header=ResponseHeader,
)
LeaderAndIsrResponse = _entity(
    "LeaderAndIsrResponse",
    {"error_code": "error_code", "partition_errors": PartitionError},
    EntityType.response,
    ResponseHeader,
)
"""The response; its error speaks for the whole request."""
