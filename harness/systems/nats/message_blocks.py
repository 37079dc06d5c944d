"""Reading the files in which a NATS server keeps a stream (nats-server, ``server/filestore.go``, ``msgHdrSize`` and after).

A block is records one after the other: length (4 bytes, the highest bit: it has headers), sequence and time (8 each), length of the
subject (2), subject, headers, payload, checksum (8). Numbers are little endian. A sequence with one of its two highest bits set
tells of a deletion.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tidemark.harness.systems.outside.real_system import LogEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORD = struct.Struct("<IQqH")
_HAS_HEADERS, _GONE = 1 << 31, (1 << 63) | (1 << 62)
_CHECKSUM = 8
_MOST = 1 << 26


def entries(block: bytes) -> Iterator[LogEntry]:
    """The records of a block, up to where it is torn; of none the epoch is known.

    >>> from struct import pack
    >>> [*entries(pack("<IQqH", 22 + 1 + 2 + 8, 4, 0, 1) + b"s42" + bytes(8))]
    [LogEntry(offset=3, epoch=None, value=42)]
    """
    at = 0
    while at + _RECORD.size <= len(block):
        length, sequence, _, subject = _RECORD.unpack_from(block, at)
        size = length & ~_HAS_HEADERS
        if not _RECORD.size + subject + _CHECKSUM <= size <= _MOST or at + size > len(block):
            return
        begin = at + _RECORD.size + subject
        if length & _HAS_HEADERS:
            begin += 4 + int.from_bytes(block[begin : begin + 4], "little")
        payload = block[begin : at + size - _CHECKSUM]
        if not sequence & _GONE and payload.isdigit():
            yield LogEntry(sequence - 1, None, int(payload))
        at += size
