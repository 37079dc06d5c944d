"""Protocol Buffers' encoding, as much of it as Fluss' messages need: numbers, and whatever has a length.

A message is a list of (number of the field, value); an ``int`` is a varint, ``bytes`` have a length before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

VARINT, LENGTH = 0, 2
_MASK, _MORE = (1 << 64) - 1, 0x80

Field = tuple[int, int | bytes]


class FieldsError(Exception):
    """These bytes are no message."""


def encode(fields: Iterable[Field]) -> bytes:
    """A message.

    >>> encode([(1, 150), (2, b"ab")]).hex()
    '08960112026162'
    """
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3 | VARINT) + _varint(value)
        else:
            out += _varint(number << 3 | LENGTH) + _varint(len(value)) + value
    return bytes(out)


def decode(message: bytes) -> Iterator[Field]:
    """The fields of a message, in order; numbers have a sign, and 64 bits.

    >>> list(decode(bytes.fromhex("08960112026162")))
    [(1, 150), (2, b'ab')]

    Raises:
        FieldsError: it is none.
    """
    at = 0
    while at < len(message):
        key, at = _read(message, at)
        value, at = _read(message, at)
        if key & 7 == VARINT:
            yield key >> 3, value - (value >> 63 << 64)
        elif key & 7 == LENGTH and at + value <= len(message):
            yield key >> 3, message[at : at + value]
            at += value
        else:
            raise FieldsError(f"a field of wire type {key & 7} at byte {at}")


def number(message: bytes, field: int, default: int = 0) -> int:
    """The last value of a number, if it is there."""
    found = [value for one, value in decode(message) if one == field and isinstance(value, int)]
    return found[-1] if found else default


def texts(message: bytes, field: int) -> list[bytes]:
    """All values of a field that has a length."""
    return [value for one, value in decode(message) if one == field and isinstance(value, bytes)]


def _varint(value: int) -> bytes:
    value &= _MASK
    out = bytearray()
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < _MORE:
            return value, at
    raise FieldsError("it ends inside a number")
