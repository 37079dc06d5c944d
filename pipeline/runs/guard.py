"""Limits of one run: how long it may take and how much memory, and what becomes of one that ends its process.

Nothing here changes a run that stays within them.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

MEGABYTE = 1 << 20
PATIENCE = 2.0
"""A run that does not even notice its alarm has so many times its limit before the whole process is ended."""
PAGE = resource.getpagesize()
DATA = 5
"""Which of the numbers in /proc/PID/statm (proc(5)) are the pages of data and stack."""


class RunLimitError(RuntimeError):
    """A run took too long, or ended the process it was in; the text is one sentence."""


class _Alarm(BaseException):
    """Rings in the middle of a run; nothing that handles exceptions handles it."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take; 0: no limit.

    Attributes:
        seconds: by the wall.
        memory_mb: beyond what its process has at the start.
        expendable: the process may be ended, somebody will start another.
    """

    seconds: float = 60
    memory_mb: int = 2048
    expendable: bool = False


@contextmanager
def within(limits: RunLimits) -> Iterator[None]:
    """The limits hold inside. Time is only watched in a main thread; memory that is not given raises `MemoryError`.

    A run that holds the interpreter, so that no alarm is heard, ends its process after a while (`PATIENCE`, of processor time)
    if that is expendable.

    Raises:
        RunLimitError: Time is up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _Alarm

    seconds = limits.seconds
    before = signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        _hold(limits.memory_mb)
        if seconds and limits.expendable:
            signal.setitimer(
                signal.ITIMER_PROF, seconds * PATIENCE
            )  # whose signal ends a process that does not handle it
        if seconds:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    except _Alarm:
        raise RunLimitError(f"The run took longer than {seconds:g} s.") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if seconds and limits.expendable:
            signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def apart(work: Callable[[], T], limits: RunLimits) -> T:
    """Do it in a child of this process, which alone dies of what it does.

    Raises:
        RunLimitError: The child took too long, or ended without an answer.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of forks beside threads: the child starts none and leaves at once
        child = os.fork()
    if child == 0:
        _answer(work, limits, reading, writing)
    os.close(writing)
    try:
        answer = _read(reading, limits.seconds)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise RunLimitError(f"The run took longer than {limits.seconds:g} s.") from None
    finally:
        os.close(reading)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not answer:
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        raise RunLimitError(f"The run's process {how}.")
    found: T | str = pickle.loads(answer[1:])  # noqa: S301  written by the child
    if answer[:1] == b"-":
        raise RunLimitError(str(found))
    return found  # type: ignore[return-value]


def _answer(work: Callable[[], object], limits: RunLimits, reading: int, writing: int) -> None:
    """Of the child: never returns."""
    try:
        os.close(reading)
        _hold(limits.memory_mb)
        try:
            answer = b"+" + pickle.dumps(work())
        except Exception:  # noqa: BLE001  told to the parent
            answer = b"-" + pickle.dumps(traceback.format_exc(limit=-8))
        with os.fdopen(writing, "wb") as file:
            file.write(answer)
    finally:
        os._exit(0)


def _read(descriptor: int, seconds: float) -> bytes:
    """Everything, until it is closed."""
    end = time.monotonic() + seconds if seconds else None
    parts: list[bytes] = []
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        if not select.select([descriptor], [], [], left)[0]:
            raise TimeoutError
        part = os.read(descriptor, MEGABYTE)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _hold(megabytes: int) -> None:
    """Give this process so much more memory at most, where the system says how much it has."""
    if not megabytes:
        return
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return
    try:
        pages = os.read(file, 200).split()
    finally:
        os.close(file)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if len(pages) > DATA:
        most = int(pages[DATA]) * PAGE + megabytes * MEGABYTE
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
