"""What the core calls a partition or an error, and what the wire does."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from kio.schema.errors import ErrorCode

_TOPICS = uuid.UUID("7469646d-6172-6b20-746f-706963732e2e")
"""Namespace of topic ids, so that every node gives a topic the same id without being told."""


class MeaninglessError(ValueError):
    """A message of a peer that can be read, but makes no sense in this cluster."""


@lru_cache(maxsize=4096)
def topic_and_index(partition: str) -> tuple[str, int]:
    """``t-0`` is partition 0 of topic ``t``."""
    topic, _, index = partition.rpartition("-")
    return topic, int(index)


def partition_name(topic: str, index: int) -> str:
    """The reverse."""
    return f"{topic}-{index}"


@lru_cache(maxsize=1024)
def topic_id(topic: str) -> uuid.UUID:
    """A topic's id: uuid5 of its name."""
    return uuid.uuid5(_TOPICS, topic)


def topics_by_id(partitions: Iterable[str]) -> dict[uuid.UUID, str]:
    """The topics of these partitions."""
    return {topic_id(topic): topic for topic, _ in map(topic_and_index, partitions)}


def error_code(error: str | None) -> ErrorCode:
    """Kafka's number for an error's name; None is no error."""
    return ErrorCode.none if error is None else ErrorCode[error.lower()]


def error_name(code: ErrorCode) -> str | None:
    """The reverse."""
    return None if code is ErrorCode.none else code.name.upper()


def only_partition(topics: Any) -> tuple[Any, Any]:  # noqa: ANN401 (a field that many entities have)
    """The topic and the partition that a message between nodes is about.

    Raises:
        MeaninglessError: it is about none, or about several.
    """
    if len(topics) != 1:
        raise MeaninglessError("nodes of this cluster speak about one partition at a time")
    topic = topics[0]
    partitions = topic.partition_states if hasattr(topic, "partition_states") else topic.partitions
    if len(partitions) != 1:
        raise MeaninglessError("nodes of this cluster speak about one partition at a time")
    return topic, partitions[0]
