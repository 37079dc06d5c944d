"""Fluss' record batches, as they lie in segments and travel: format V0, rows *indexed*, of a table with one BIGINT column.

``org.apache.fluss.record.LogRecordBatchFormat`` and ``IndexedLogRecord``, 0.9.1; all numbers are little-endian.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from crc32c import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEFORE_SUM = struct.Struct("<qibq")
"""Base offset, length of what follows, format, time."""
_SUMMED = struct.Struct("<hbiqii")
"""Schema, attributes, offset of the last record less the first's, writer, its sequence number, number of records."""
_RECORD = struct.Struct("<ibBq")
"""Length of what follows, kind of change, bits of columns without a value, the value."""
_SUM = struct.Struct("<I")
_HEAD = struct.Struct("<qi")
_V0, NO_WRITER, NO_SEQUENCE = 0, -1, -1
_SCHEMA = 1


class BatchError(Exception):
    """These bytes are no batch of such a table."""


class StoredBatch(NamedTuple):
    """A batch: the offset of its first record, and its values. A batch with a number of offsets and no records has none."""

    base: int
    end: int
    values: tuple[int, ...]


def batch_of(value: int) -> bytes:
    """A batch of one record, of a writer without idempotence, as a client sends it."""
    record = _RECORD.pack(_RECORD.size - 4, 0, 0, value)
    summed = _SUMMED.pack(_SCHEMA, 0, 0, NO_WRITER, NO_SEQUENCE, 1) + record
    length = _BEFORE_SUM.size - _HEAD.size + _SUM.size + len(summed)
    return _BEFORE_SUM.pack(0, length, _V0, 0) + _SUM.pack(crc32c(summed)) + summed


def batches_in(content: bytes) -> Iterator[StoredBatch]:
    """Those of a segment, or of an answer, in order; what is not there whole at the end is left out.

    Raises:
        BatchError: the sum of one is wrong, or it is of another format.
    """
    at = 0
    while at + _HEAD.size <= len(content):
        _, length = _HEAD.unpack_from(content, at)
        end = at + _HEAD.size + length
        if length <= 0 or end > len(content):
            return
        yield _batch(content[at:end])
        at = end


def _batch(raw: bytes) -> StoredBatch:
    base, _, version, _ = _BEFORE_SUM.unpack_from(raw)
    if version != _V0:
        raise BatchError(f"the batch at offset {base} has format {version}")
    at = _BEFORE_SUM.size + _SUM.size
    (told,) = _SUM.unpack_from(raw, _BEFORE_SUM.size)
    if crc32c(raw[at:]) != told:
        raise BatchError(f"the batch at offset {base} is damaged")
    _, _, last, _, _, records = _SUMMED.unpack_from(raw, at)
    at += _SUMMED.size
    values = [_RECORD.unpack_from(raw, at + place * _RECORD.size)[3] for place in range(records)]
    return StoredBatch(base, base + last + 1, tuple(values))
