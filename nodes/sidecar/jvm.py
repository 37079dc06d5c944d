"""A JVM as a child of the sidecar, with one pipe for all it prints. It does not outlive the sidecar."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tidemark.nodes.admin.process_file import start_time, stat_of
from tidemark.nodes.sidecar.synced_segments import SyncedSegments

PIPE_SIZE = 1 << 20
"""Bytes a JVM may print before it has to wait for the sidecar; the most that a process may ask for without privileges."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Jvm:
    """One JVM.

    Attributes:
        pid: its number.
        started: field 22 of ``/proc/PID/stat``, which tells it from a later process of the same number.
        output: the reading end of the pipe, not blocking; whoever reads it closes it.
        ended: done when it is gone, with its exit code (negative: the signal that killed it).
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        loop: asyncio.AbstractEventLoop,
        syncs: SyncedSegments | None = None,
    ) -> None:
        """Start it; `syncs` notes what it flushes.

        Raises:
            OSError: it cannot be started.
        """
        before = _die_with(os.getpid())
        self.output, write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.output, False)
        with suppress(OSError):
            fcntl.fcntl(self.output, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        try:
            self._process = subprocess.Popen(
                list(command),
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                preexec_fn=before if syncs is None else syncs.around(before),  # noqa: PLW1509 (a few system calls, no locks)
            )
            if syncs is not None:
                syncs.begin()
        except OSError:
            os.close(self.output)
            if syncs is not None:
                syncs.close()
            raise
        finally:
            os.close(write_end)
        self.pid = self._process.pid
        self.started = start_time(self.pid)
        self.ended: asyncio.Future[int] = loop.create_future()
        self._waiter = threading.Thread(target=self._wait, args=(loop,), name=f"waits for {self.pid}", daemon=True)
        self._waiter.start()

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._gone, code)

    def _gone(self, code: int) -> None:
        if not self.ended.done():
            self.ended.set_result(code)

    @property
    def is_stopped(self) -> bool:
        """Whether a signal stopped it (SIGSTOP)."""
        return stat_of(self.pid)[:1] == ["T"]

    def signal(self, number: int) -> None:
        """Send a signal, if it is there."""
        if not self.ended.done():
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def end(self, patience_s: float = 0.0) -> int:
        """SIGTERM, and after so many seconds SIGKILL; ends when it is gone. Its exit code."""
        if patience_s:
            self.signal(signal.SIGTERM)
            self.signal(signal.SIGCONT)
            with suppress(TimeoutError):
                return await asyncio.wait_for(asyncio.shield(self.ended), patience_s)
        self.signal(signal.SIGKILL)
        return await self.ended


def _die_with(parent: int) -> Callable[[], None]:
    """What a child does before it becomes the JVM: be killed when the sidecar dies, however it does."""

    def ask() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask
