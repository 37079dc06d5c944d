"""A history's file opened: a regular file, or a pipe into which somebody writes. What would never end or begin is refused."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
from pathlib import Path
from typing import Final

WAIT_MS: Final = 5_000
"""So long may a pipe have nobody who writes into it."""


def open_history(path: Path) -> io.BufferedReader:
    """The file, to be read as bytes.

    Raises:
        OSError: It cannot be read, and why.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return _open_pipe(path)
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path.open("rb")
    what = "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "a socket"
    raise OSError(
        errno.EINVAL, f"it is {what}; a history is a file or a pipe, and - stands for standard input", str(path)
    )


def _open_pipe(path: Path) -> io.BufferedReader:
    """Who opens a pipe waits for a writer, and who waits for ever cannot say so: here it is looked for."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(number, select.POLLIN)
        waits_for_ever = not poll.poll(WAIT_MS) and not _has_writer(number)
    except BaseException:
        os.close(number)
        raise
    if waits_for_ever:
        os.close(number)
        raise OSError(errno.EPIPE, f"nobody has written into this pipe for {WAIT_MS // 1000} s", str(path))
    os.set_blocking(number, True)
    return os.fdopen(number, "rb")


def _has_writer(number: int) -> bool:
    """Whether somebody holds an empty pipe open, and may write later."""
    try:
        os.read(number, 1)  # what comes at this very moment comes too late
    except BlockingIOError:
        return True
    return False
