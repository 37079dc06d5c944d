"""Makes a broker's disk slow: every write and sync of its logs and checkpoints first takes so long, by strace's fault injection.

strace attaches to the running JVM (as root, or to a child of the same user; no privilege of the container is needed) and delays the
calls on the files that matter, each thread by itself. While it is attached, *every* system call of the JVM costs some 50 to 100 µs
more, also on sockets: about 1 ms for a synchronous produce, and a bulk load falls to a few thousand records a second. When it
detaches, nothing is left. Not slowed are the index files, which are written through memory maps, and reads.

A broker that is paused stays paused, one that is killed takes strace with it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tidemark.nodes.formats.checkpoints import EPOCHS, HIGH_WATERMARKS
from tidemark.nodes.formats.partition_files import RECOVERY_POINTS
from tidemark.nodes.formats.segment import SEGMENT, base_of
from tidemark.nodes.sidecar.strace import CALLS, Strace, StraceError

_WATCH_S = 0.5
_MOST_US = 60_000_000


class SlowDiskError(StraceError):
    """The disk is not as slow as it was asked to be; the message says why."""


class SlowDisk:
    """Slows one broker's disk.

    Attributes:
        delay_us: what is in force now, µs; 0 if nothing is, also after the broker or strace has ended.
    """

    def __init__(self, data: Collection[Path], partitions: tuple[str, ...] = ()) -> None:
        """Nothing is slow yet.

        Args:
            data: the broker's log directories.
            partitions: those that may be created there later, such as ``t-0``.
        """
        self._data = tuple(data)
        self._partitions = partitions
        self._strace = Strace("slow the disk of", SlowDiskError)
        self._watcher: asyncio.Task[None] | None = None
        self._files: frozenset[str] = frozenset()
        self._delay_us = 0
        self._changing = asyncio.Lock()

    @property
    def delay_us(self) -> int:
        """See the class."""
        return self._delay_us if self._strace.runs else 0

    async def set(self, pid: int, delay_us: int) -> None:
        """From now on every write and sync takes so much longer; ends when that is so.

        Args:
            pid: the broker's process.
            delay_us: µs; 0 heals.

        Raises:
            SlowDiskError: it is not so; then nothing is in force.
        """
        if not 0 <= delay_us <= _MOST_US:
            raise SlowDiskError("A disk can be slow by 0 µs to a minute: give that many µs.")
        if delay_us and shutil.which("strace") is None:
            raise SlowDiskError("strace is not installed, and slows a broker's disk: install it.")
        await self._stop_watching()
        async with self._changing:
            await self._detach(pid)
            if delay_us:
                await self._attach(pid, delay_us)
        if delay_us:
            self._watcher = asyncio.create_task(self._watch(pid, delay_us))

    async def close(self) -> None:
        """Heal, whether or not the broker is still there."""
        await self._stop_watching()
        async with self._changing:
            await self._strace.end()

    async def _attach(self, pid: int, delay_us: int) -> None:
        self._files = await asyncio.to_thread(self._wanted)
        self._delay_us = delay_us
        await self._strace.attach(pid, f"{CALLS}:delay_enter={delay_us}", self._files)

    async def _detach(self, pid: int) -> None:
        self._delay_us = 0
        await self._strace.detach(pid)

    # Segments that are begun later

    async def _watch(self, pid: int, delay_us: int) -> None:
        """Strace takes its files by name, when it starts: attach it anew when there are others."""
        while True:
            await asyncio.sleep(_WATCH_S)
            if await asyncio.to_thread(self._wanted) != self._files:
                async with self._changing:
                    if not self.delay_us:
                        return
                    with suppress(SlowDiskError):
                        await self._detach(pid)
                        await self._attach(pid, delay_us)

    async def _stop_watching(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    def _wanted(self) -> frozenset[str]:
        """The paths whose writes are to be slow; they need not be there yet."""
        return frozenset(str(path) for data in self._data for path in self._wanted_in(data.resolve()))

    def _wanted_in(self, data: Path) -> list[Path]:
        files = {data / f"{name}.tmp" for name in (HIGH_WATERMARKS, RECOVERY_POINTS)}
        with suppress(FileNotFoundError):
            files |= {path for path in data.glob("*/*.log") if base_of(path.name) is not None}
        for directory in {path.parent for path in files if path.suffix == ".log"} | {
            data / p for p in self._partitions
        }:
            files |= {directory / SEGMENT, directory / f"{EPOCHS}.tmp"}
        return list(files)
