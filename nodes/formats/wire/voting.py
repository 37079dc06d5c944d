"""Messages of families without a controller that Kafka has none for, in its framing: header, correlation id, tagged fields.

Kafka's protocol has two of their messages: a candidate's ``Vote`` (52), and ``BeginQuorumEpoch`` (53), by which a leader makes
itself known. The others have API keys of their own, from 1000 on, which no version of Kafka uses. Each goes one way: what answers
it comes as a message of its own, since a server may answer later, not at all, or without being asked. The response says that the
message was heard, and nothing else.

All are version 0, and flexible.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.static.constants import EntityType

from tidemark.nodes.formats.wire.own_entities import VERSION, entity

__all__ = ["BEGIN_QUORUM_EPOCH", "HEARD", "NOT_THERE", "REQUESTS", "RESPONSES", "SHAPES", "VERSION", "VOTE", "Shape"]

VOTE, BEGIN_QUORUM_EPOCH = 52, 53

HEARD = MappingProxyType({"heard": "bool"})


class Shape(NamedTuple):
    """One message.

    Attributes:
        name: of the core's message that it carries.
        fields: name → type, in order, as they lie on the wire.
        answer: the same of the response.
    """

    name: str
    fields: dict[str, str]
    answer: Mapping[str, str] = HEARD


_WHO = {"source": "int64", "partition": "string", "generation": "int64"}

SHAPES: dict[int, Shape] = {
    1000: Shape(
        "AppendEntries",
        _WHO | {"base": "int64", "before": "int64", "batches": "records", "hw": "int64", "correlation": "int64"},
    ),
    1001: Shape("AppendResponse", _WHO | {"success": "bool", "end": "int64", "correlation": "int64"}),
    1002: Shape("PreVoteRequest", _WHO | {"last_generation": "int64", "leo": "int64"}),
    1003: Shape("PreVoteResponse", _WHO | {"asked_for": "int64", "granted": "bool"}),
    1004: Shape(
        "PermittedVoteRequest",
        _WHO | {"last_generation": "int64", "leo": "int64"},
        {"generation": "int64", "granted": "bool"},
    ),
    1005: Shape("HandOver", _WHO),
    1006: Shape("StandNow", _WHO),
    1010: Shape(
        "ReplicationRequest", _WHO | {"base": "int64", "batches": "records", "hw": "int64", "correlation": "int64"}
    ),
    1011: Shape("ReplicationResponse", _WHO | {"replicated": "int64", "next": "int64", "correlation": "int64"}),
    1012: Shape("HighWaterMarkRequest", _WHO | {"correlation": "int64"}),
    1013: Shape("HighWaterMarkResponse", _WHO | {"hw": "int64", "correlation": "int64"}),
    1020: Shape(
        "LatestRequest", _WHO | {"offset": "int64", "latest": "int64", "reconciled": "bool", "correlation": "int64"}
    ),
    1021: Shape(
        "LatestResponse", _WHO | {"batches": "records", "hw": "int64", "diverging": "int64", "correlation": "int64"}
    ),
}
"""API key → what travels under it. The keys are in docs/families.md."""

NOT_THERE = -(1 << 63)
"""In place of a number that may be missing."""


REQUESTS: dict[int, Any] = {
    key: entity(shape.name, key, EntityType.request, RequestHeader, shape.fields) for key, shape in SHAPES.items()
}
RESPONSES: dict[int, Any] = {
    key: entity(f"{shape.name}Answer", key, EntityType.response, ResponseHeader, shape.answer)
    for key, shape in SHAPES.items()
}
