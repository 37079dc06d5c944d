"""A line of a broker's log, whatever wrote it: Kafka's own log4j patterns, others with the same parts, slf4j-simple."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_STAMP: Final = r"\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{3}))?\d*Z?\]?"
_LEVEL: Final = r"\[?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\]?"
_HEAD: Final = re.compile(rf"(?:\d+ )?{_STAMP} +{_LEVEL} +(.*)")
"""What may stand before the stamp is a number that the harness puts there."""
_LOGGER_FIRST: Final = re.compile(r"([\w.$]+) - (.*)")
_LOGGER_LAST: Final = re.compile(r"(.*) \(([\w.$]+)\)(?: \[[^\]]*\])?\s*")


class StampedLine(NamedTuple):
    """Its parts. The time is the broker's own, without a zone; it sorts as text does."""

    time: str
    level: str
    logger: str
    message: str

    def for_reader(self) -> str:
        """As the sidecar's readers of lines want it."""
        return f"{self.time} {self.level} {self.logger} - {self.message}"


def stamped(text: str) -> StampedLine | None:
    """The parts of a line; None if it has no stamp: the rest of a message, such as a stack trace.

    >>> stamped("[2026-11-26 08:13:57,389] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)").for_reader()
    '2026-11-26T08:13:57.389 INFO kafka.server.KafkaServer - [KafkaServer id=1] started'
    """
    found = _HEAD.match(text)
    if found is None:
        return None
    day, clock, thousandths, level, rest = found.groups()
    time = f"{day}T{clock}.{thousandths or '000'}"
    if (first := _LOGGER_FIRST.match(rest)) is not None:
        return StampedLine(time, level, first[1], first[2])
    if (last := _LOGGER_LAST.fullmatch(rest)) is not None:
        return StampedLine(time, level, last[2], last[1])
    return StampedLine(time, level, "", rest)
