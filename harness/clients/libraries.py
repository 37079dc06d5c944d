"""Which client libraries are here."""

from __future__ import annotations

import contextlib
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal, NamedTuple

Library = Literal["confluent", "aiokafka", "java"]

CONFLUENT: Final = "confluent"
AIOKAFKA: Final = "aiokafka"
JAVA: Final = "java"
"""Kafka's own, for transactions only (`tidemark.harness.clients.java_transactions`)."""
LIBRARIES: tuple[Library, ...] = (CONFLUENT, AIOKAFKA)


class ClientLibrary(NamedTuple):
    """A library to choose, and its version in words."""

    name: Library
    version: str


def available() -> list[ClientLibrary]:
    """The libraries that can be used, with their versions; one that is missing is left out."""
    found = []
    try:
        import confluent_kafka

        versions = f"confluent-kafka {confluent_kafka.version()}, librdkafka {confluent_kafka.libversion()[0]}"
        found.append(ClientLibrary(CONFLUENT, versions))
    except ImportError:
        pass
    with contextlib.suppress(PackageNotFoundError):
        found.append(ClientLibrary(AIOKAFKA, f"aiokafka {version('aiokafka')}"))
    return found
