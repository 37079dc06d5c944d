"""strace attached to a running JVM: what it does to the system calls on some files.

It attaches as root, or to a child of the same user; no privilege of the container is needed. One strace at a time
traces a process. When it detaches, nothing is left.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import monotonic

CALLS = "write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate"
"""Those that write or sync."""
IN_FORCE_S = 10.0
_LOOK_S = 0.02


class StraceError(RuntimeError):
    """strace does not do what it was asked to; the message says why."""


class Strace:
    """At most one strace.

    Args:
        does: what it does to a process, for messages, such as ``slow the disk of``.
        error: what is raised.
    """

    def __init__(self, does: str, error: type[StraceError] = StraceError) -> None:
        """None yet."""
        self._does = does
        self._error = error
        self._tracer: asyncio.subprocess.Process | None = None

    @property
    def runs(self) -> bool:
        """Whether one is attached, or about to be."""
        return self._tracer is not None and self._tracer.returncode is None

    async def attach(self, pid: int, inject: str, files: Collection[str]) -> None:
        """Ends when all threads of a process are traced.

        Args:
            pid: the process.
            inject: what is done to which calls, as strace's ``inject=`` has it.
            files: paths, as they are when a call comes.

        Raises:
            StraceError: it is not so; then nothing is in force.
        """
        paths = [argument for path in sorted(files) for argument in ("-P", path)]
        calls = inject.partition(":")[0]
        self._tracer = await asyncio.create_subprocess_exec(
            *("strace", "-qq", "-f", "-p", str(pid), "-o", "/dev/null", "--signal=none"),
            *("-e", f"trace={calls}", "-e", f"inject={inject}", *paths),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            await self._until_traced_by(pid, self._tracer.pid)
        except BaseException:
            await self.end()
            raise

    async def detach(self, pid: int) -> None:
        """Ends when nobody traces the process any more.

        Raises:
            StraceError: somebody does.
        """
        had = self._tracer is not None
        await self.end()
        if had:
            await self._until_traced_by(pid, 0)

    async def end(self) -> None:
        """End it, whether or not the process is still there.

        Raises:
            StraceError: it does not end.
        """
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL) if tracer.returncode is None else (signal.SIGKILL,):
            _signal_group(tracer, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(tracer.communicate(), IN_FORCE_S)
                return
        raise self._error(f"strace {tracer.pid} did not end within {IN_FORCE_S:g} s.")

    async def _until_traced_by(self, pid: int, tracer: int) -> None:
        """Wait until all threads of a process have this tracer (0: none)."""
        deadline = monotonic() + IN_FORCE_S
        while any(found != tracer for found in tracers(pid)):
            if self._tracer is not None and self._tracer.returncode is not None:
                _signal_group(self._tracer, signal.SIGKILL)
                _, said = await self._tracer.communicate()
                words = said.decode(errors="replace").strip().replace("\n", "; ") or "it said nothing"
                raise self._error(f"strace does not {self._does} process {pid}: {words}.")
            if monotonic() > deadline:
                what = self._does if tracer else "let go of"
                raise self._error(f"strace did not {what} all threads of process {pid} within {IN_FORCE_S:g} s.")
            await asyncio.sleep(_LOOK_S)
        if tracer and not tracers(pid):
            raise self._error(f"There is no process {pid}: strace cannot {self._does} it.")


def _signal_group(tracer: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Signal strace and whatever is left of it.

    When it starts it tries ptrace on a child of its own. If it ends in the middle of that, the child stays, stopped, and keeps our
    pipe open.
    """
    with suppress(ProcessLookupError):
        os.killpg(tracer.pid, number)


def tracers(pid: int) -> list[int]:
    """Who traces each thread of a process; none if it is gone."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            with suppress(FileNotFoundError, ProcessLookupError):
                lines = status.read_text().splitlines()
                found += [int(line.split()[1]) for line in lines if line.startswith("TracerPid:")]
    return found
