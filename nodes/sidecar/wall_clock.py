"""What time the JVM believes it is: told by the dates of its log lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

FRESH_US = 1_000_000
PATIENCE_S = 0.5


class WallClock:
    """A JVM's wall clock, which may have been moved.

    Args:
        poke: makes the JVM print a line.
    """

    def __init__(self, poke: Callable[[], Awaitable[None]]) -> None:
        """Nothing was seen yet."""
        self._poke = poke
        self._ahead_us = time.time_ns() // 1000 - time.monotonic_ns() // 1000
        """By how much it is ahead of the monotonic clock: this process's own, before the first line."""
        self._seen_us = -FRESH_US
        self._seen = asyncio.Event()

    def saw(self, arrived_us: int, wall_us: int) -> None:
        """A line with this date came at this moment (µs of CLOCK_MONOTONIC).

        A line comes later than it was dated, by what the sidecar was late; the JVM's dates have milliseconds.
        """
        self._ahead_us = wall_us - arrived_us
        self._seen_us = arrived_us
        self._seen.set()

    def wall_us(self, mono_us: int) -> int:
        """The JVM's time at a moment of CLOCK_MONOTONIC, as its latest line tells it."""
        return mono_us + self._ahead_us

    async def refresh(self) -> None:
        """See to it that the latest line is at most a second old; a JVM that stands still does not print any."""
        began = time.monotonic_ns() // 1000
        if self._seen_us > began - FRESH_US:
            return
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                self._seen.clear()
                await self._poke()
                await self._seen.wait()
