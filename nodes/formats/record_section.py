"""The records behind a batch's header: lengths as zig-zag varints, offsets and times relative to the batch's."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.nodes.formats.bad_batch import BadBatchError

SMALLEST_RECORD = 7
"""Bytes of a record without key, value and headers: seven fields of one byte each."""

_LONGEST = 63
"""The last shift of a 64-bit varint."""


def encode(values: Iterable[bytes]) -> bytes:
    """Records with these values, without keys and headers, all of the batch's base time."""
    out: list[bytes] = []
    for delta, value in enumerate(values):
        body = b"".join((b"\0\0", _varint(delta), b"\x01", _varint(len(value)), value, b"\0"))
        out += _varint(len(body)), body
    return b"".join(out)


def encode_one(key: bytes, value: bytes) -> bytes:
    """One record with a key."""
    body = b"".join((b"\0\0\0", _varint(len(key)), key, _varint(len(value)), value, b"\0"))
    return _varint(len(body)) + body


def without_first(section: bytes, gone: int) -> bytes:
    """The records without the first so many, byte for byte but for their offsets, which begin at 0 again.

    Raises:
        BadBatchError: the section does not hold well-formed records.
    """
    out: list[bytes] = []
    at = place = 0
    try:
        while at < len(section):
            length, begin = _number(section, at)
            at = begin + length
            _, offset_at = _number(section, begin + 1)
            _, rest_at = _number(section, offset_at)
            if rest_at > at or at > len(section):
                raise _malformed(place)
            if place >= gone:
                body = b"".join((section[begin:offset_at], _varint(place - gone), section[rest_at:at]))
                out += _varint(len(body)), body
            place += 1
    except IndexError:
        raise _malformed(place) from None
    return b"".join(out)


def decode(section: bytes, count: int) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of each record; headers are passed over.

    Raises:
        BadBatchError: the section does not hold exactly ``count`` well-formed records with offsets 0, 1, 2 …
    """
    records = []
    at = 0
    try:
        for expected in range(count):
            length, at = _number(section, at)
            end = at + length
            _, at = _number(section, at + 1)
            delta, at = _number(section, at)
            key, at = _bytes(section, at)
            value, at = _bytes(section, at)
            if at >= end or end > len(section) or delta != expected:
                raise _malformed(expected)
            records.append((key, value))
            at = end
    except IndexError:
        raise _malformed(len(records)) from None
    if at != len(section):
        raise BadBatchError("INVALID_RECORD", f"{len(section) - at} bytes follow the batch's last record.")
    return records


def _malformed(index: int) -> BadBatchError:
    return BadBatchError("INVALID_RECORD", f"Record {index} of the batch is malformed.")


def _bytes(section: bytes, at: int) -> tuple[bytes | None, int]:
    """A key or value, and where the next field begins."""
    size, at = _number(section, at)
    return (None, at) if size < 0 else (section[at : at + size], at + size)


def _number(section: bytes, at: int) -> tuple[int, int]:
    """A zig-zag varint, and where the next field begins.

    Raises:
        IndexError: it does not end before the section or its tenth byte does.
    """
    byte = section[at]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    number = byte & 0x7F
    shift = 7
    while shift <= _LONGEST:
        at += 1
        byte = section[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at + 1
        shift += 7
    raise IndexError


def _varint(number: int) -> bytes:
    """A number that is not negative, as zig-zag varint."""
    number <<= 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
