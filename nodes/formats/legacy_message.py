"""Kafka's messages before record batches: magic 0 (until 0.9) and magic 1 (0.10), one by one or packed into a wrapper.

A message: offset (8 bytes), size of the rest (4), CRC-32 of what follows it (4), magic (1), attributes (1), with magic 1 a
timestamp (8), then key and value, each with its length (4; −1 for none). A compressed message is a wrapper: its value is a set
of messages, and its offset that of the last of them. No message names the epoch of its leader.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from zlib import crc32

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.compression import decompress

SMALLEST = (26, 34)
"""Bytes of a message without key and value, by magic."""

_HEAD = Struct(">qiIbb")
_OVERHEAD = 12
_SUM_FROM = 16
_CODEC = 0x07
_LENGTH = Struct(">i")


def sound(raw: bytes) -> bool:
    """Whether these bytes are one message of magic 0 or 1, whole and with the right checksum; its records are not looked into."""
    if len(raw) < SMALLEST[0]:
        return False
    _, size, crc, magic, _ = _HEAD.unpack_from(raw)
    return (
        magic in {0, 1}
        and SMALLEST[magic] <= len(raw) == _OVERHEAD + size
        and crc32(memoryview(raw)[_SUM_FROM:]) == crc
    )


def packs_others(raw: bytes) -> bool:
    """Whether a message is a wrapper."""
    return bool(_HEAD.unpack_from(raw)[4] & _CODEC)


def values_in(raw: bytes) -> tuple[bytes | None, ...]:
    """The value of a message, or of each message in a wrapper.

    Raises:
        BadBatchError: a length is wrong, or the wrapper is compressed with a codec that is unknown or not installed.
    """
    value = _value(raw)
    codec = _HEAD.unpack_from(raw)[4] & _CODEC
    if not codec:
        return (value,)
    return tuple(_value(inner) for inner in _messages(decompress(codec, value or b"")))


def _messages(section: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(section):
        size = _LENGTH.unpack_from(section, at + 8)[0] if at + _OVERHEAD <= len(section) else -1
        raw = section[at : at + _OVERHEAD + size]
        if size < 0 or not sound(raw) or packs_others(raw):
            raise BadBatchError("CORRUPT_MESSAGE", "A message within a compressed one is damaged.")
        yield raw
        at += len(raw)


def _value(raw: bytes) -> bytes | None:
    _, at = _field(raw, SMALLEST[raw[16]] - 2 * _LENGTH.size)
    value, end = _field(raw, at)
    if end != len(raw):
        raise BadBatchError("INVALID_RECORD", f"{len(raw) - end} bytes follow the message's value.")
    return value


def _field(raw: bytes, at: int) -> tuple[bytes | None, int]:
    """A key or value, and where the next field begins."""
    if at + _LENGTH.size > len(raw):
        raise BadBatchError("INVALID_RECORD", "The message ends within its key or value.")
    (size,) = _LENGTH.unpack_from(raw, at)
    at += _LENGTH.size
    return (None, at) if size < 0 else (raw[at : at + size], at + size)
