"""I/O errors of what a broker has open in a log directory that has failed, by strace's fault injection.

Whatever the broker opens there fails by itself: in the directory's place lies a file
(:mod:`tidemark.nodes.sidecar.failed_log_directory`). What it has open it could still write. For as long as it has not taken the
directory offline, each write and sync of that is EIO.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tidemark.nodes.formats.log_directories import held
from tidemark.nodes.formats.segment import base_of
from tidemark.nodes.sidecar.strace import CALLS, Strace, StraceError, tracers

MOST_S = 15.0
"""Strace makes every call dearer, so it does not stay longer. Kafka writes the checkpoint of its high watermarks every 5 s, which
fails too."""


class FailingWrites:
    """Of one broker.

    Args:
        directories: its log directories.
    """

    def __init__(self, directories: Sequence[Path]) -> None:
        """None fails yet."""
        self._directories = tuple(directories)
        self._strace = Strace("fail writes of")
        self._noticed = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    async def begin(self, pid: int) -> int:
        """From now on they do; ends when that is so. Gives how many files the errors are of: none where somebody else (a slow
        disk) traces the broker already, or it has taken the directory offline.

        Raises:
            StraceError: it is not so; then nothing is in force.
        """
        aside = [held(one) for one in self._directories if held(one) != one]
        files = [str(log.resolve()) for one in aside for log in one.glob("*/*.log") if base_of(log.name) is not None]
        if not files or self._noticed.is_set() or self._strace.runs or any(tracers(pid)):
            return 0
        if shutil.which("strace") is None:
            raise StraceError("strace is not installed, and fails a broker's writes: install it.")
        await self._strace.attach(pid, f"{CALLS}:error=EIO", files)
        self._ending = asyncio.create_task(self._end_when_noticed())
        return len(files)

    def noticed(self) -> None:
        """The broker has taken a directory offline."""
        self._noticed.set()

    async def _end_when_noticed(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._noticed.wait(), MOST_S)
        await self._strace.end()

    async def close(self) -> None:
        """End it, whether or not the broker is still there."""
        self.noticed()
        if self._ending is not None:
            await self._ending
