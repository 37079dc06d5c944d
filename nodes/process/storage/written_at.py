"""When each batch was written: a small file beside the volatile log, which only a power loss reads.

Pairs of 64-bit integers: the position where a batch ends, and CLOCK_MONOTONIC in milliseconds when it was written. One pair is
one ``pwrite`` of 16 bytes into a tmpfs, about 1 µs; to buffer them would lose the last ones with the process. A cut of the log is
not noted: the batches that are written afterwards overtake the notes of those that went.
"""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path
from struct import Struct
from time import monotonic_ns

WRITTEN_AT = "written-at"

_PAIR = Struct(">qq")


def now_ms() -> int:
    """CLOCK_MONOTONIC, which all processes of a machine share."""
    return monotonic_ns() // 1_000_000


class WrittenAt:
    """The file of one partition, open for more."""

    def __init__(self, path: Path) -> None:
        """Open it, or make it.

        Raises:
            OSError: it cannot be opened.
        """
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = os.fstat(self._fd).st_size // _PAIR.size * _PAIR.size

    def note(self, position: int) -> None:
        """A batch that ends here was written now.

        Raises:
            OSError: no space; the next note takes the place of this one.
        """
        if os.pwrite(self._fd, _PAIR.pack(position, now_ms()), self._end) < _PAIR.size:
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self._end += _PAIR.size

    def drop(self, size: int) -> None:
        """So many bytes were taken from the beginning of the log.

        Raises:
            OSError: the file cannot be written.
        """
        data = os.pread(self._fd, self._end, 0)
        left = b"".join(_PAIR.pack(end - size, at_ms) for end, at_ms in _PAIR.iter_unpack(data) if end > size)
        os.pwrite(self._fd, left, 0)
        os.ftruncate(self._fd, len(left))
        self._end = len(left)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def old_until(path: Path, before_ms: int) -> int:
    """The position up to which a log was written at or before a time.

    It is 0 if none of it was, or nothing is known, and may lie beyond the log's end if the log was cut.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0
    notes: list[tuple[int, int]] = []
    for end, at_ms in _PAIR.iter_unpack(data[: len(data) // _PAIR.size * _PAIR.size]):
        while notes and notes[-1][0] >= end:
            notes.pop()
        notes.append((end, at_ms))
    return max((end for end, at_ms in notes if at_ms <= before_ms), default=0)
