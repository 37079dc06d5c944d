"""Whether a JVM serves, and what ZooKeeper holds: questions that ZooKeeper and Kafka answer on their ports."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from struct import Struct

from tidemark.nodes.admin.config_file import Address

PATIENCE_S = 1.0

_SIZE = Struct(">i")
_API_VERSIONS = Struct(">hhih")
"""Key 18, version 0, correlation id, and a client id that is null: the oldest request there is, and any broker answers it."""

_REQUEST = _API_VERSIONS.pack(18, 0, 1, -1)


async def kafka_answers(address: Address) -> bool:
    """Whether a broker or controller answers requests at a port."""
    return len(await _ask(address, _SIZE.pack(len(_REQUEST)) + _REQUEST, _SIZE.size)) == _SIZE.size


async def zookeeper_answers(address: Address) -> bool:
    """Whether ZooKeeper serves at a port."""
    return b"Mode:" in await _ask(address, b"srvr", 1 << 16)


async def ephemeral_nodes(address: Address) -> frozenset[str] | None:
    """The paths that sessions hold in ZooKeeper, by its command ``dump`` (``DataTree.dumpEphemerals``).

    `None` if it does not say.
    """
    answer = (await _ask(address, b"dump", 1 << 20)).decode(errors="replace")
    _, told, sessions = answer.partition("Sessions with Ephemerals (")
    return frozenset(line.strip() for line in sessions.splitlines() if line.startswith("\t/")) if told else None


async def knock(address: Address) -> None:
    """Connect, and hang up: the broker prints a line.

    Raises:
        OSError: nobody listens.
    """
    _, writer = await asyncio.open_connection(address.host, address.port)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _ask(address: Address, question: bytes, most: int) -> bytes:
    """What is answered, up to so many bytes or the end of the connection; nothing if nobody answers in time."""
    answer = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                writer.write(question)
                while len(answer) < most:
                    data = await reader.read(most - len(answer))
                    if not data:
                        break
                    answer += data
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    return answer
