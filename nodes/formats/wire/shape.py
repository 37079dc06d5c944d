"""Checks the shape of a body before kio decodes it.

kio 0.6.5 sets memory aside for as many items as an array claims to have, before it looks for them, and a process that cannot
get the memory is aborted: five bytes could end a node. So every length is first held against the bytes that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from struct import Struct
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

Walk: TypeAlias = Callable[[bytes, int], int]
"""From where something begins to where it ends. Raises :class:`ValueError`, IndexError or struct.error if it does not fit."""

MAX_ITEMS = 100_000
"""Longest array that is taken."""

_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "error_code": 2,
    "int32": 4,
    "uint32": 4,
    "timedelta_i32": 4,
    "int64": 8,
    "float64": 8,
    "timedelta_i64": 8,
    "datetime_i64": 8,
    "uuid": 16,
}
_NULL = 0xFF
_I16 = Struct(">h").unpack_from
_I32 = Struct(">i").unpack_from


def varint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of at most five bytes, and where it ends.

    Raises:
        ValueError, IndexError: it does not end.
    """
    value = shift = 0
    while shift < 35:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a number does not end")


def skip_tags(data: bytes, at: int) -> int:
    """Where tagged fields end that nobody looks into.

    Raises:
        ValueError, IndexError: they do not end within the data.
    """
    return _tags({})(data, at)


@cache
def walker(entity: type) -> Walk:
    """Finds the end of an entity of this type (kio's, or declared like kio's), checking every length on the way."""
    flexible = bool(entity.__flexible__)  # type: ignore[attr-defined]
    walks: list[Walk] = []
    tagged: dict[int, Walk] = {}
    fixed = 0
    for field in fields(entity):
        size, walk = _walk_of(field.type, field.metadata.get("kafka_type", ""), flexible)
        if "tag" in field.metadata:
            tagged[field.metadata["tag"]] = walk or _fixed(size)
        elif walk is None:
            fixed += size
        else:
            if fixed:
                walks.append(_fixed(fixed))
                fixed = 0
            walks.append(walk)
    if fixed:
        walks.append(_fixed(fixed))
    if flexible:
        walks.append(_tags(tagged))
    return _all(walks)


def _all(walks: list[Walk]) -> Walk:
    def walk_all(data: bytes, at: int) -> int:
        for walk in walks:
            at = walk(data, at)
        return at

    return walks[0] if len(walks) == 1 else walk_all


def _walk_of(declared: Any, kafka_type: str, flexible: bool) -> tuple[int, Walk | None]:  # noqa: ANN401 (a type)
    """A fixed size, or else how to find the end."""
    nullable = get_origin(declared) in (UnionType, Union)
    if nullable:
        declared = next(t for t in get_args(declared) if t is not type(None))
    if get_origin(declared) is tuple:
        size, item = _walk_of(get_args(declared)[0], kafka_type, flexible)
        return 0, _array(item or _fixed(size), flexible, nullable)
    if kafka_type in _SIZES:
        return _SIZES[kafka_type], None
    if kafka_type == "string":
        return 0, _compact_bytes if flexible else _short_bytes
    if kafka_type in ("bytes", "records"):
        return 0, _compact_bytes if flexible else _long_bytes
    return 0, _or_null(walker(declared)) if nullable else walker(declared)


def _or_null(walk: Walk) -> Walk:
    """A byte before an entity says whether there is one (KIP-482, KIP-893)."""

    def walk_if_there(data: bytes, at: int) -> int:
        return at + 1 if data[at] == _NULL else walk(data, at + 1)

    return walk_if_there


def _within(data: bytes, at: int) -> int:
    if at > len(data):
        raise ValueError(f"it ends {at - len(data)} bytes too early")
    return at


def _fixed(size: int) -> Walk:
    return lambda data, at: _within(data, at + size)


def _compact_bytes(data: bytes, at: int) -> int:
    size, at = varint(data, at)
    return _within(data, at + max(size - 1, 0))


def _short_bytes(data: bytes, at: int) -> int:
    return _within(data, at + 2 + _length(_I16(data, at)[0]))


def _long_bytes(data: bytes, at: int) -> int:
    return _within(data, at + 4 + _length(_I32(data, at)[0]))


def _length(size: int) -> int:
    """−1 stands for null."""
    if size < -1:
        raise ValueError(f"a length of {size}")
    return max(size, 0)


def _array(item: Walk, flexible: bool, nullable: bool) -> Walk:
    """Kio makes None of a null array, also where there can be none; nobody behind it should have to think of that."""
    least = -1 if nullable else 0

    def walk(data: bytes, at: int) -> int:
        if flexible:
            count, at = varint(data, at)
            count -= 1
        else:
            count, at = _I32(data, at)[0], at + 4
        if not least <= count <= MAX_ITEMS:
            raise ValueError(f"an array of {count} items")
        for _ in range(count):
            at = item(data, at)
        return at

    return walk


def _tags(known: dict[int, Walk]) -> Walk:
    def walk(data: bytes, at: int) -> int:
        if data[at] == 0:
            return at + 1
        count, at = varint(data, at)
        for _ in range(count):
            tag, at = varint(data, at)
            size, at = varint(data, at)
            end = _within(data, at + size)
            if tag in known and known[tag](data, at) != end:
                raise ValueError(f"tagged field {tag} is not {size} bytes long")
            at = end
        return at

    return walk
