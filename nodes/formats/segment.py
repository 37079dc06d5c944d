"""The batches that lie one behind the other in a log file, and nothing else: Kafka's segment file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import HEADER_SIZE, Header, checked_header, read_header

SEGMENT = "00000000000000000000.log"
"""Kafka's name of a partition's first segment; there is no second one here, but it may begin later."""

_NAME = re.compile(r"([0-9]{20})\.log")

_LENGTH = Struct(">i")
_LENGTH_AT = 8
_OVERHEAD = 12
_GUESS = 4096
"""Bytes read at a time: most batches are smaller."""


class Found(NamedTuple):
    """A batch in a segment.

    Attributes:
        position: where it begins.
        raw: its bytes, fewer than there should be if the segment ends within.
        header: None if the segment ends within the header.
        sound: whole and with a right checksum.
    """

    position: int
    raw: bytes
    header: Header | None
    sound: bool

    @property
    def end(self) -> int:
        """The position after it."""
        return self.position + len(self.raw)


def name_of(base: int) -> str:
    """The file of the segment that begins with an offset."""
    return f"{base:020}.log"


def base_of(name: str) -> int | None:
    """The offset that a segment begins with, by the name of its file; None if it is another file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def newest(names: Iterable[str]) -> str | None:
    """The segment among these files, None without one.

    Where the beginning of a log was being dropped there may be two: the one that begins later is whole, and the other is to go.
    """
    return max((name for name in names if base_of(name) is not None), default=None)


def segment_in(directory: Path) -> Path | None:
    """A partition's segment, None without one.

    Raises:
        OSError: the directory cannot be read.
    """
    name = newest(path.name for path in directory.iterdir()) if directory.is_dir() else None
    return None if name is None else directory / name


def scan(read: Callable[[int, int], bytes], size: int) -> Iterator[Found]:
    """The batches of a segment in order, up to and including the first that is not sound.

    Args:
        read: gives so many bytes from a position on, fewer at the end.
        size: bytes of the segment.
    """
    at = 0
    while at < size:
        raw = read(at, _GUESS)
        claimed = _OVERHEAD + _LENGTH.unpack_from(raw, _LENGTH_AT)[0] if len(raw) >= _OVERHEAD else 0
        if claimed > _GUESS:
            raw = read(at, min(claimed, size - at))
        elif claimed >= HEADER_SIZE:
            raw = raw[:claimed]
        header, sound = _judge(raw)
        yield Found(at, raw, header, sound)
        if not sound:
            return
        at += len(raw)


def _judge(raw: bytes) -> tuple[Header | None, bool]:
    """The header of what should be one batch, and whether it is one."""
    try:
        return checked_header(raw, control=True), True
    except BadBatchError:
        return (read_header(raw) if len(raw) >= HEADER_SIZE else None), False
