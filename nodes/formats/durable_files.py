"""Writing so that it is there: whole, and after a power loss too."""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path


def write_all(fd: int, data: bytes, position: int) -> None:
    """``pwrite`` until everything is written.

    Raises:
        OSError: it cannot be; some of it may have been.
    """
    left = memoryview(data)
    while left:
        done = os.pwrite(fd, left, position)
        if not done:
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        left = left[done:]
        position += done


def sync_directory(directory: Path) -> None:
    """Make the names of a directory's files durable.

    Raises:
        OSError: fsync failed.
    """
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(path: Path, text: str) -> None:
    """Give a file a new content, all or nothing: temporary file, fsync, rename, fsync of the directory.

    Raises:
        OSError: the file is as it was before.
    """
    new = path.with_name(path.name + ".tmp")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        write_all(fd, text.encode(), 0)
        os.fsync(fd)
    finally:
        os.close(fd)
    new.replace(path)
    sync_directory(path.parent)
