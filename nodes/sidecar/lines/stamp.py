"""The head of a line: ``2026-11-21T14:48:36.393 TRACE kafka.log.Log - [Log partition=t-0, dir=…] Appended …``.

That is how slf4j-simple prints with ``showDateTime``, the date pattern ``yyyy-MM-dd'T'HH:mm:ss.SSS`` and no thread names.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

_LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "ERROR"})
_DIGITS = 23
"""Length of ``2026-11-21T14:48:36.393``."""


class Head(NamedTuple):
    """A line, taken apart."""

    level: str
    logger: str
    message: str


def split(line: str) -> Head | None:
    """The parts of a line; None for one that continues a message (a stack trace), or that the JVM itself printed."""
    if len(line) < _DIGITS or line[10] != "T" or line[_DIGITS - 4] != ".":
        return None
    parts = line.split(" ", 4)
    if len(parts) != 5 or parts[3] != "-" or parts[1] not in _LEVELS or len(parts[0]) != _DIGITS:
        return None
    return Head(parts[1], parts[2], parts[4])


def wall_us(line: str) -> int | None:
    """When the broker printed the line, by its wall clock, in µs since 1970; None if the line does not say.

    The stamp has no zone: it is taken for local time, which is the JVM's on the same machine.
    """
    if split(line) is None:
        return None
    try:
        return round(datetime.fromisoformat(line[:_DIGITS]).timestamp() * 1000) * 1000
    except ValueError:
        return None
