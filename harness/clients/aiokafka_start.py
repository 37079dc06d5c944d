"""Starting an aiokafka producer or consumer, which may be broken off."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from aiokafka.errors import KafkaError  # type: ignore[import-untyped]


async def start_or_leave(client: Any, within_s: float) -> None:  # noqa: ANN401 - aiokafka has no types
    """Start it. When that is cancelled, the start comes to its end first, unless that takes longer than ``within_s``.

    While aiokafka asks its first broker for the cluster, nobody but the stack knows the connection: cancelled there, it is never
    closed. After the start it is closed, or belongs to the client, whom the caller stops.

    Raises:
        KafkaError: it does not start.
    """
    starting = asyncio.create_task(client.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait({starting}, timeout=within_s)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError, KafkaError):
            await starting
        raise
