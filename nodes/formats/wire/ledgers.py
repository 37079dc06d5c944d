"""BookKeeper's messages in Kafka's framing: to bookies, to the metadata store, and their answers.

BookKeeper has a protocol of its own (protobuf over Netty) and ZooKeeper's. Here the core's messages travel as those of the families
without a controller do (:mod:`tidemark.nodes.formats.wire.voting`): each goes one way, under an API key that no version of
Kafka uses, and its response says only that it was heard. All are version 0, and flexible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.static.constants import EntityType

from tidemark.nodes.formats.wire.own_entities import entity

FIRST_KEY = 1030


class Shape(NamedTuple):
    """One message.

    Attributes:
        name: of the core's message that it carries.
        fields: name → type, in order, as they lie on the wire.
    """

    name: str
    fields: dict[str, str | type]


def _nested(name: str, shape: dict[str, str | type]) -> Any:  # noqa: ANN401 (a class)
    return entity(name, FIRST_KEY, EntityType.nested, RequestHeader, shape)


FRAGMENT = _nested("LedgerFragment", {"first": "int64", "ensemble": "int64s"})
LEDGER = _nested(
    "LedgerMetadata",
    {
        **dict.fromkeys(("number", "writer", "base", "write", "ack"), "int64"),
        "fragments": FRAGMENT,
        "state": "string",
        "last": "int64",
        "end": "int64",
    },
)
ENTRY = _nested("LedgerEntry", {"entry": "int64", "batch": "records"})
STAMP = _nested("MetadataStamp", {"partition": "string", "stamp": "int64"})

_WHO: dict[str, str | type] = {"source": "int64", "partition": "string"}
_ENTRY = _WHO | {"ledger": "int64", "entry": "int64"}

SHAPES: dict[int, Shape] = {
    1030: Shape("AddEntry", _ENTRY | {"lac": "int64", "batch": "records", "recovery": "bool"}),
    1031: Shape("AddResponse", _ENTRY | {"status": "string", "recovery": "bool"}),
    1032: Shape("WriteLac", _WHO | {"ledger": "int64", "lac": "int64"}),
    1033: Shape("ReadLac", _WHO | {"ledger": "int64", "correlation": "int64"}),
    1034: Shape(
        "ReadLacResponse", _WHO | {"ledger": "int64", "status": "string", "lac": "int64", "correlation": "int64"}
    ),
    1035: Shape("RecoveryRead", _ENTRY | {"fence": "bool", "correlation": "int64"}),
    1036: Shape("RecoveryReadResponse", _ENTRY | {"status": "string", "batch": "records", "correlation": "int64"}),
    1037: Shape("ReadEntries", _WHO | {"ledger": "int64", "first": "int64"}),
    1038: Shape("ReadEntriesResponse", _WHO | {"ledger": "int64", "entries": ENTRY, "lac": "int64"}),
    1040: Shape("RegisterBookie", _WHO | {"incarnation": "int64"}),
    1041: Shape("BookieRegistered", _WHO | {"incarnation": "int64", "limbo": "int64"}),
    1042: Shape("Acquire", _WHO | {"number": "int64", "by_force": "bool"}),
    1043: Shape("Update", _WHO | {"version": "int64", "ledgers": LEDGER, "correlation": "int64"}),
    1044: Shape("Updated", _WHO | {"correlation": "int64", "done": "bool", "version": "int64", "ledgers": LEDGER}),
    1045: Shape(
        "Metadata",
        _WHO | dict.fromkeys(("stamp", "owner", "number", "version"), "int64") | {"ledgers": LEDGER, "live": "int64s"},
    ),
    1046: Shape("Heartbeat", {"source": "int64", "broker_epoch": "int64", "known": STAMP}),
}
"""API key → what travels under it. The keys are in docs/families."""

REQUESTS: dict[int, Any] = {
    key: entity(shape.name, key, EntityType.request, RequestHeader, shape.fields) for key, shape in SHAPES.items()
}
RESPONSES: dict[int, Any] = {
    key: entity(f"{shape.name}Answer", key, EntityType.response, ResponseHeader, {"heard": "bool"})
    for key, shape in SHAPES.items()
}
