"""A partition's directory on a Kafka broker: segments of batches, in every message format that Kafka has had (magic 0, 1 and 2).

An *entry* is what Kafka writes, and cuts off, as a whole: a record batch (magic 2), a message (magic 0 and 1), or a compressed
message that wraps others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from struct import Struct
from typing import NamedTuple, TypeAlias

from crc32c import crc32c

from tidemark.nodes.formats import legacy_message
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import HEADER_SIZE, read_header, value_of, values_of
from tidemark.nodes.formats.segment import base_of

Batch: TypeAlias = tuple[int, int, tuple[int, ...]]
"""(base offset, leader epoch, values), as :func:`tidemark.nodes.formats.read_log.read_segment` gives them; epoch −1 with magic
0 and 1.
"""

_LENGTH = Struct(">i")
_LENGTH_AT = 8
_OVERHEAD = 12
_MAGIC_AT = 16
_SUM_FROM = 21
_GUESS = 1 << 16
"""Bytes read at a time: most entries are smaller."""


class Entry(NamedTuple):
    """A sound entry of a segment.

    Attributes:
        position: where it begins, bytes from the segment's beginning.
        raw: its bytes.
        last: offset of its last record.
        epoch: its leader's; −1 with magic 0 and 1, whose messages do not say.
    """

    position: int
    raw: bytes
    last: int
    epoch: int

    @property
    def end(self) -> int:
        """The position after it."""
        return self.position + len(self.raw)

    @property
    def next(self) -> int:
        """The offset after it."""
        return self.last + 1

    @property
    def magic(self) -> int:
        """Version of the message format."""
        return self.raw[_MAGIC_AT]

    @property
    def base(self) -> int:
        """Offset of its first record.

        Raises:
            BadBatchError: a wrapper cannot be unpacked.
        """
        if self.magic == 2:
            return read_header(self.raw).base_offset
        if legacy_message.packs_others(self.raw):
            return self.next - len(legacy_message.values_in(self.raw))
        return self.last

    @property
    def values(self) -> tuple[int, ...]:
        """One integer a record, as :func:`tidemark.nodes.formats.record_batch.values_of` makes them.

        Raises:
            BadBatchError: the records are damaged, or compressed with a codec that is not installed.
        """
        if self.magic == 2:
            return values_of(self.raw)
        return tuple(map(value_of, legacy_message.values_in(self.raw)))


def scan(read: Callable[[int, int], bytes], size: int, position: int = 0) -> Iterator[Entry]:
    """The entries of a segment in order, up to the first that is not whole or not sound.

    Args:
        read: gives so many bytes from a position on, fewer at the end.
        size: bytes of the segment.
        position: where to begin; an entry begins there.
    """
    while position < size:
        raw = read(position, _GUESS)
        claimed = _OVERHEAD + _LENGTH.unpack_from(raw, _LENGTH_AT)[0] if len(raw) >= _OVERHEAD else 0
        if not _OVERHEAD < claimed <= size - position:
            return
        raw = raw[:claimed] if claimed <= len(raw) else read(position, claimed)
        entry = _entry(position, raw) if len(raw) == claimed else None
        if entry is None:
            return
        yield entry
        position = entry.end


def entries_of(segment: bytes) -> Iterator[Entry]:
    """The same of a segment that is in memory."""
    return scan(lambda position, size: segment[position : position + size], len(segment))


def _entry(position: int, raw: bytes) -> Entry | None:
    """These bytes as an entry; None if they are not one."""
    if len(raw) <= _MAGIC_AT:
        return None
    if raw[_MAGIC_AT] in {0, 1}:
        last = int.from_bytes(raw[:8], signed=True)
        return Entry(position, raw, last, -1) if legacy_message.sound(raw) else None
    if raw[_MAGIC_AT] != 2 or len(raw) < HEADER_SIZE:
        return None
    header = read_header(raw)
    if header.last_offset_delta < 0 or crc32c(memoryview(raw)[_SUM_FROM:]) != header.crc:
        return None
    return Entry(position, raw, header.base_offset + header.last_offset_delta, header.leader_epoch)


def segment_files(directory: Path) -> list[Path]:
    """A partition's segments, in order.

    Raises:
        OSError: the directory cannot be read.
    """
    return sorted(path for path in directory.iterdir() if base_of(path.name) is not None)


def read_segments(files: Mapping[str, bytes]) -> list[Batch]:
    """A partition's whole log.

    What follows the last sound entry of the last segment is left out, as a broker's recovery would; of an earlier segment, if
    the next one goes on from there (a broker that went on after a full disk leaves such a thing).

    Args:
        files: name → content of the files in its directory; those that are no segments are passed over.

    Raises:
        BadBatchError: an earlier segment is damaged; or a sound entry cannot be read, e.g. for want of a decompressor.
    """
    names = sorted(name for name in files if base_of(name) is not None)
    batches: list[Batch] = []
    for name, following in zip(names, [*names[1:], None][: len(names)], strict=True):
        entries = list(entries_of(files[name]))
        batches += [(entry.base, entry.epoch, entry.values) for entry in entries]
        _check_whole(name, files[name], entries, following)
    return batches


def _check_whole(name: str, data: bytes, entries: list[Entry], following: str | None) -> None:
    sound = entries[-1].end if entries else 0
    reached = entries[-1].next if entries else base_of(name)
    if following is not None and sound < len(data) and base_of(following) != reached:
        raise BadBatchError(
            "CORRUPT_MESSAGE",
            f"Segment {name} is damaged from byte {sound} on (offset {reached}), and others follow it.",
        )


def read_partition(directory: Path) -> list[Batch]:
    """A partition's whole log, from its directory; as :func:`read_segments`.

    Raises:
        BadBatchError: see there.
        OSError: it cannot be read.
    """
    return read_segments({path.name: path.read_bytes() for path in segment_files(directory)})
