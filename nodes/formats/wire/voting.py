"""Messages of families without a controller that Kafka has none for, in its framing: header, correlation id, tagged fields.

Kafka's protocol has two of their messages: a candidate's ``Vote`` (52), and ``BeginQuorumEpoch`` (53), by which a leader makes
itself known. The others have API keys of their own, from 1000 on, which no version of Kafka uses, and travel field by field, in
the order in which the core declares them. Each goes one way: what answers
it comes as a message of its own, since a server may answer later, not at all, or without being asked. The response says that the
message was heard, and nothing else.

All are version 0, and flexible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.static.constants import EntityType

from tidemark.nodes.formats.wire.own_entities import entity

VOTE, BEGIN_QUORUM_EPOCH = 52, 53

HEARD = MappingProxyType({"heard": "bool"})

NOT_THERE = -(1 << 63)
"""In place of a number that may be missing."""

_TYPES = {"int": "int64", "int | None": "int64", "str": "string", "bool": "bool", "list[Batch]": "records"}
"""Of a field of the core's → on the wire."""

REQUESTS: dict[int, Any] = {}
RESPONSES: dict[int, Any] = {}
"""By API key, of all messages that were declared."""


def declare(kind: type, key: int, answer: Mapping[str, str] = HEARD) -> None:
    """Let a message of the core travel under a key. The keys are in docs/families.

    Raises:
        ValueError: another message has it.
    """
    if key in REQUESTS:
        raise ValueError(f"API key {key} of {kind.__name__} is taken by {REQUESTS[key].__name__}")
    shape = {one.name: _TYPES[str(one.type)] for one in fields(kind)}
    REQUESTS[key] = entity(kind.__name__, key, EntityType.request, RequestHeader, shape)
    RESPONSES[key] = entity(f"{kind.__name__}Answer", key, EntityType.response, ResponseHeader, answer)
