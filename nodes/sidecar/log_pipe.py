"""What a JVM prints: read as fast as it comes, stamped on arrival, copied to the node's log.

A JVM whose pipe is full stands still, so nothing here waits. A stamp is CLOCK_MONOTONIC in µs, taken after the read: the line was
printed before, and it is later than that by no more than the sidecar was late.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

CHUNK = 1 << 18
AT_ONCE = 16
"""Chunks read in a row, so that others have their turn."""
KEPT = 400
"""Lines kept in memory."""


class Line(NamedTuple):
    """One line of a JVM, and when it came (µs)."""

    arrived_us: int
    text: str


class LogPipe:
    """Reads one pipe.

    Args:
        fd: the reading end, not blocking; closed by :meth:`close`.
        copy: a file descriptor that every line is copied to, with its stamp and the prefix.
        prefix: tells this JVM's lines from another's.

    Attributes:
        ended: set when nobody can write any more, and everything was read.
        last: the latest lines.
    """

    def __init__(self, fd: int, copy: int, prefix: str = "") -> None:
        """Nothing was read yet."""
        self.fd = fd
        self.ended = asyncio.Event()
        self.last: deque[Line] = deque(maxlen=KEPT)
        self._copy = copy
        self._prefix = prefix
        self._rest = b""
        self._open = True

    def read(self) -> list[Line]:
        """The lines that came since the last time, up to :data:`AT_ONCE` chunks of them.

        A line that a killed process did not print to its end is copied, but not given.
        """
        lines: list[Line] = []
        for _ in range(AT_ONCE):
            try:
                data = os.read(self.fd, CHUNK)
            except BlockingIOError:
                break
            now = time.monotonic_ns() // 1000
            if not data:
                self.ended.set()
                self._keep([Line(now, self._rest.decode(errors="replace"))] if self._rest else [])
                self._rest = b""
                break
            lines += self._whole(data, now)
            if len(data) < CHUNK // 4:
                break
        return lines

    def _whole(self, data: bytes, now: int) -> list[Line]:
        *complete, self._rest = (self._rest + data).split(b"\n")
        lines = [Line(now, line.decode(errors="replace")) for line in complete]
        self._keep(lines)
        return lines

    def _keep(self, lines: list[Line]) -> None:
        """A log that cannot be written (a full disk) must not end the node: the trace is what counts."""
        self.last.extend(lines[-KEPT:])
        text = "".join([f"{at} {self._prefix}{text}\n" for at, text in lines])
        left = memoryview(text.encode(errors="replace"))
        with suppress(OSError):
            while left:
                left = left[os.write(self._copy, left) :]

    def close(self) -> None:
        """Close the pipe; a JVM that still prints is told by SIGPIPE."""
        if self._open:
            self._open = False
            os.close(self.fd)
