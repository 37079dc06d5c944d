"""How the body of a version of an API is read and written: by kio, from its own entities or from ours."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from tidemark.nodes.formats.wire.shape import walker

if TYPE_CHECKING:
    from kio.static.protocol import RequestPayload, ResponsePayload

Reader: TypeAlias = Callable[[bytes, int], Any]
"""The body that these bytes hold from this offset to their end. Raises one of :data:`UNREADABLE` if they do not."""

UNREADABLE = (SerialError, ValueError, LookupError, OverflowError, TypeError, struct.error)
"""What reading a malformed body raises."""

Writer: TypeAlias = Callable[[BytesIO, Any], None]

FETCH, LEADER_AND_ISR, API_VERSIONS, OFFSET_FOR_LEADER_EPOCH = 1, 4, 18, 23
ALTER_PARTITION, BROKER_REGISTRATION, BROKER_HEARTBEAT = 56, 62, 63
OWN_KEYS = 1_000
"""API keys from here on are no version of Kafka's (:mod:`tidemark.nodes.formats.wire.voting`,
:mod:`tidemark.nodes.formats.wire.ledgers`)."""


class Codec(NamedTuple):
    """One version of one API.

    Attributes:
        flexible_request: whether the request header ends with tags (request header v2).
        response_header: 0 or 1; ApiVersions keeps 0, so that a client can read the answer whatever the node is.
    """

    flexible_request: bool
    read_request: Reader
    write_request: Writer
    response_header: int
    read_response: Reader
    write_response: Writer


@cache
def codec(key: int, version: int) -> Codec:
    """Reader and writer of this version. Its module is loaded when it is first asked for.

    Raises:
        kio.index.KioIndexError: neither kio nor we know it.
    """
    request: type[RequestPayload]
    response: type[ResponsePayload]
    if key == LEADER_AND_ISR:
        from tidemark.nodes.formats.wire.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse

        request, response = LeaderAndIsrRequest, LeaderAndIsrResponse
    elif (key, version) == (OFFSET_FOR_LEADER_EPOCH, 4):
        from tidemark.nodes.formats.wire.epoch_lineage import OffsetForLeaderEpochRequest

        request, response = OffsetForLeaderEpochRequest, load_response_schema(key, version)
    elif key >= OWN_KEYS:
        from tidemark.nodes.formats.wire import ledgers, voting

        of = ledgers if key in ledgers.REQUESTS else voting
        request, response = of.REQUESTS[key], of.RESPONSES[key]
    else:
        request, response = load_request_schema(key, version), load_response_schema(key, version)
    return Codec(
        request.__header_schema__.__version__ >= 2,
        _reader(request),
        cast("Writer", entity_writer(request)),
        int(response.__header_schema__.__version__),
        _reader(response),
        cast("Writer", entity_writer(response)),
    )


def _reader(entity: type[RequestPayload | ResponsePayload]) -> Reader:
    walk, read = walker(entity), entity_reader(entity)

    def read_checked(data: bytes, at: int) -> object:
        end = walk(data, at)
        if end != len(data):
            raise ValueError(f"{len(data) - end} bytes are left over")
        return read(data, at)[0]

    return read_checked
