"""OffsetForLeaderEpoch, version 4, with epochs of the asker and their ends: KIP-279's rejected alternative 2.

The fields are Kafka's (``OffsetForLeaderEpochRequest.json`` of 2.8 and later; version 4 is the first flexible one), and so is the
response. The lineage is ours. It rides in a tagged field of the partition, with a tag that no Kafka version uses; whoever does not
know the tag skips it, and answers as Kafka does.
"""

from __future__ import annotations

from functools import partial

from kio.schema.request_header.v2.header import RequestHeader
from kio.static.constants import EntityType

from tidemark.nodes.formats.wire.own_entities import MayLack, entity

VERSION = 4
LINEAGE_TAG = 10_000

_nested = partial(entity, key=23, kind=EntityType.nested, header=RequestHeader, version=VERSION)

EpochOfAsker = _nested("EpochOfAsker", shape={"leader_epoch": "int32", "end_offset": "int64"})
"""An epoch in the asker's log, and its exclusive end there."""

OffsetForLeaderPartition = _nested(
    "OffsetForLeaderPartition",
    shape={
        "partition": "int32",
        "current_leader_epoch": MayLack("int32", -1),
        "leader_epoch": "int32",
        "lineage": MayLack(EpochOfAsker, (), LINEAGE_TAG),  # ours: oldest first
    },
)
OffsetForLeaderTopic = _nested(
    "OffsetForLeaderTopic", shape={"topic": "string", "partitions": OffsetForLeaderPartition}
)
OffsetForLeaderEpochRequest = _nested(
    "OffsetForLeaderEpochRequest",
    kind=EntityType.request,
    shape={"replica_id": MayLack("int32", -2), "topics": OffsetForLeaderTopic},
)
"""The request of broker ``replica_id``."""
