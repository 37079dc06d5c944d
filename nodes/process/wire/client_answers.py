"""One response to a request about many partitions, sent when all of them have their answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.formats.wire.names import error_code
from tidemark.nodes.process.wire.client_entities import NO_THROTTLE, response_entity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.nodes.process.wire.server import Request

Place = tuple[str, int]
"""A topic, and a partition's index in it."""


def reply_by_topic(
    request: Request, kinds: Sequence[str], parts: Iterable[tuple[Place, Mapping[str, Any]]], **whole: object
) -> None:
    """Answer about partitions, those of a topic together.

    Args:
        request: to answer.
        kinds: what kio calls the entities of a partition, of a topic and of the response.
        parts: each partition, and the fields of its entity.
        whole: further fields of the response.
    """
    part, topic, response = (response_entity(request.api_key, request.api_version, kind) for kind in kinds)
    topics: dict[str, list[object]] = {}
    for (name, index), fields in parts:
        topics.setdefault(name, []).append(part(index=index, partition_index=index, **fields))
    made = tuple(
        topic(name=name, topic=name, partitions=tuple(found), partition_responses=tuple(found))
        for name, found in topics.items()
    )
    request.reply(response(throttle_time=NO_THROTTLE, topics=made, responses=made, **whole))


class Gathering:
    """What becomes the response to one request, partition by partition, in the request's order.

    Args:
        request: to answer.
        kinds: as of :func:`reply_by_topic`.
        places: the partitions.
        refused: the fields of a partition's entity that tells of an error.
    """

    __slots__ = ("_kinds", "_open", "_refused", "_said", "places", "request")

    def __init__(
        self, request: Request, kinds: Sequence[str], places: Sequence[Place], refused: Mapping[str, object]
    ) -> None:
        self.request = request
        self.places = places
        self._kinds = kinds
        self._refused = refused
        self._said: list[Mapping[str, object]] = [{}] * len(places)
        self._open = len(places)

    def settle(self, at: int, error: str | None, **fields: object) -> None:
        """One partition's answer has come."""
        self._said[at] = {**self._refused, **fields, "error_code": error_code(error)}
        self._open -= 1
        if not self._open:
            self.reply()

    def reply(self) -> None:
        """Say what is known of all partitions."""
        reply_by_topic(self.request, self._kinds, zip(self.places, self._said, strict=True))
