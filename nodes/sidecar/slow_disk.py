"""Makes a broker's disk slow: every write and sync of its logs and checkpoints first takes so long, by strace's fault injection.

strace attaches to the running JVM (as root, or to a child of the same user; no privilege of the container is needed) and delays the
calls on the files that matter, each thread by itself. While it is attached, *every* system call of the JVM costs some 50 to 100 µs
more, also on sockets: about 1 ms for a synchronous produce, and a bulk load falls to a few thousand records a second. When it
detaches, nothing is left. Not slowed are the index files, which are written through memory maps, and reads.

A broker that is paused stays paused, one that is killed takes strace with it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import monotonic

from tidemark.nodes.formats.checkpoints import EPOCHS, HIGH_WATERMARKS
from tidemark.nodes.formats.partition_files import RECOVERY_POINTS
from tidemark.nodes.formats.segment import SEGMENT, base_of

CALLS = "write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate"
IN_FORCE_S = 10.0
_LOOK_S = 0.02
_WATCH_S = 0.5
_MOST_US = 60_000_000


class SlowDiskError(RuntimeError):
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
        self._tracer: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._files: frozenset[str] = frozenset()
        self._delay_us = 0
        self._changing = asyncio.Lock()

    @property
    def delay_us(self) -> int:
        """See the class."""
        return self._delay_us if self._tracer is not None and self._tracer.returncode is None else 0

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
            await self._end_tracer()

    async def _attach(self, pid: int, delay_us: int) -> None:
        self._files = await asyncio.to_thread(self._wanted)
        paths = [argument for path in sorted(self._files) for argument in ("-P", path)]
        self._tracer = await asyncio.create_subprocess_exec(
            *("strace", "-qq", "-f", "-p", str(pid), "-o", "/dev/null", "--signal=none"),
            *("-e", f"trace={CALLS}", "-e", f"inject={CALLS}:delay_enter={delay_us}", *paths),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._delay_us = delay_us
        try:
            await self._until_traced_by(pid, self._tracer.pid)
        except BaseException:
            await self._end_tracer()
            raise

    async def _detach(self, pid: int) -> None:
        had = self._tracer is not None
        await self._end_tracer()
        if had:
            await self._until_traced_by(pid, 0)

    async def _end_tracer(self) -> None:
        tracer, self._tracer, self._delay_us = self._tracer, None, 0
        if tracer is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL) if tracer.returncode is None else (signal.SIGKILL,):
            _signal_group(tracer, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(tracer.communicate(), IN_FORCE_S)
                return
        raise SlowDiskError(f"strace {tracer.pid} did not end within {IN_FORCE_S:g} s.")

    async def _until_traced_by(self, pid: int, tracer: int) -> None:
        """Wait until all threads of a process have this tracer (0: none)."""
        deadline = monotonic() + IN_FORCE_S
        while any(found != tracer for found in _tracers(pid)):
            if self._tracer is not None and self._tracer.returncode is not None:
                _signal_group(self._tracer, signal.SIGKILL)
                _, said = await self._tracer.communicate()
                words = said.decode(errors="replace").strip().replace("\n", "; ") or "it said nothing"
                raise SlowDiskError(f"strace does not slow the disk of process {pid}: {words}.")
            if monotonic() > deadline:
                what = "slow the disk of" if tracer else "let go of"
                raise SlowDiskError(f"strace did not {what} all threads of process {pid} within {IN_FORCE_S:g} s.")
            await asyncio.sleep(_LOOK_S)
        if tracer and not _tracers(pid):
            raise SlowDiskError(f"There is no process {pid} whose disk could be slow.")

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


def _signal_group(tracer: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Signal strace and whatever is left of it.

    When it starts it tries ptrace on a child of its own. If it ends in the middle of that, the child stays, stopped, and keeps our
    pipe open.
    """
    with suppress(ProcessLookupError):
        os.killpg(tracer.pid, number)


def _tracers(pid: int) -> list[int]:
    """Who traces each thread of a process; none if it is gone."""
    tracers = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            with suppress(FileNotFoundError, ProcessLookupError):
                lines = status.read_text().splitlines()
                tracers += [int(line.split()[1]) for line in lines if line.startswith("TracerPid:")]
    return tracers
