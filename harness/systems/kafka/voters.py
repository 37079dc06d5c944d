"""The voters of a quorum of controllers, which can change while it runs (KIP-853).

A voter is a node and the directory of its metadata log: who has lost that is another voter. Kafka's tool draws a directory's id;
here it follows from the node's number, so that everybody knows it before the node runs.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import UUID

from tidemark.nodes.formats.directory_ids import directory_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def directory_of(node: int) -> str:
    """The id of the directory of a node's metadata log, as Kafka writes it."""
    found = bytearray(blake2b(f"tidemark metadata/{node}".encode(), digest_size=16).digest())
    found[0] &= 0x7F  # none begins with a dash (``Uuid.randomUuid``)
    return directory_text(UUID(bytes=bytes(found)))


def initial_controllers(addresses: Mapping[int, str]) -> str:
    """What ``kafka-storage.sh format --initial-controllers`` is told; node → ``HOST:PORT``."""
    return ",".join(f"{node}@{address}:{directory_of(node)}" for node, address in addresses.items())
