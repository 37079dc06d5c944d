"""One process at a time: a lock on a log directory that the kernel lifts when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

LOCK = ".lock"


class DirectoryInUseError(Exception):
    """Another process uses the log directory."""


def lock(directory: Path) -> int:
    """Take the lock.

    Returns:
        A file descriptor; closing it gives the lock back.

    Raises:
        DirectoryInUseError: somebody else has it.
        OSError: the lock file cannot be made.
    """
    fd = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DirectoryInUseError(f"{directory} is in use by another process: stop that one first.") from None
    return fd
