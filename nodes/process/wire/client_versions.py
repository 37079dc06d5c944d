"""Which versions of which APIs a node offers to clients, and the API that tells them (ApiVersions, KIP-35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.variant import Variant
from tidemark.nodes.formats.wire.codec import API_VERSIONS, FETCH, OFFSET_FOR_LEADER_EPOCH
from tidemark.nodes.formats.wire.names import error_code
from tidemark.nodes.process.wire.client_entities import (
    DELETE_RECORDS,
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    METADATA,
    NO_THROTTLE,
    PRODUCE,
    response_entity,
)

if TYPE_CHECKING:
    from tidemark.nodes.families import AnyVariant
    from tidemark.nodes.process.wire.server import Request

_BEFORE_KIP_320 = {
    PRODUCE: (3, 8),
    FETCH: (4, 8),
    LIST_OFFSETS: (1, 3),
    METADATA: (4, 6),
    API_VERSIONS: (0, 3),
    DELETE_RECORDS: (0, 1),
    INIT_PRODUCER_ID: (0, 3),
}
"""No leader epoch anywhere, as up to Kafka 2.0: clients cannot notice that a log was cut."""

_SINCE_KIP_320 = _BEFORE_KIP_320 | {
    FETCH: (4, 11),
    LIST_OFFSETS: (1, 5),
    METADATA: (4, 9),
    DELETE_RECORDS: (0, 2),
    OFFSET_FOR_LEADER_EPOCH: (2, 3),
}
"""Leader epochs in Metadata (v7; but clients trust them only from v9 on, KAFKA-9212), Fetch (v9) and ListOffsets (v4)."""


def client_versions(variant: AnyVariant) -> dict[int, tuple[int, int]]:
    """API key → lowest and highest version, as the variant's inter-broker version would have it for what KIP-320 changed.

    Of other families than Kafka's clients hear no leader epochs, as in the simulator, and nothing is deleted.
    """
    if not isinstance(variant, Variant):
        return {key: versions for key, versions in _BEFORE_KIP_320.items() if key != DELETE_RECORDS}
    versions = dict(_SINCE_KIP_320 if "fetch" in variant.fences else _BEFORE_KIP_320)
    if not variant.delete_records:
        del versions[DELETE_RECORDS]
    return versions


def answer_versions(request: Request, versions: dict[int, tuple[int, int]]) -> None:
    """Answer an ApiVersions request."""
    version = request.api_version
    one = response_entity(API_VERSIONS, version, "ApiVersion")
    response = response_entity(API_VERSIONS, version, "ApiVersionsResponse")
    keys = tuple(one(api_key=key, min_version=low, max_version=high) for key, (low, high) in sorted(versions.items()))
    request.reply(response(error_code=error_code(None), api_keys=keys, throttle_time=NO_THROTTLE))
