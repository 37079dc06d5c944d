"""Entities of ours, declared as kio declares its own, so that kio reads and writes them."""

from __future__ import annotations

from dataclasses import field, make_dataclass
from typing import TYPE_CHECKING, Any

from kio.static.constants import EntityType
from kio.static.primitive import Records, i16, i64

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 0

_TYPES: dict[str, tuple[str, Any]] = {
    "string": ("string", str),
    "bool": ("bool", bool),
    "int64": ("int64", i64),
    "int64s": ("int64", tuple[i64, ...]),
    "records": ("records", Records),
}


def entity(name: str, key: int, kind: EntityType, header: type, shape: Mapping[str, str | type]) -> type:
    """A class of such entities, version 0 and flexible.

    Args:
        name: of the class.
        key: of the API.
        kind: request, response, or nested, which is part of others.
        header: kio's class of its header.
        shape: field → its type, in order, as they lie on the wire: ``string``, ``bool``, ``int64``, ``int64s`` for an array,
            ``records``; or a class of nested ones, of which there is an array.
    """
    fields = [(one, *_field(declared)) for one, declared in shape.items()]
    attributes = {
        "__type__": kind,
        "__version__": i16(VERSION),
        "__flexible__": True,
        "__api_key__": i16(key),
        "__header_schema__": header,
    }
    return make_dataclass(name, fields, namespace=attributes, frozen=True, slots=True, kw_only=True)


def _field(declared: str | type) -> tuple[Any, Any]:
    if isinstance(declared, str):
        kafka_type, python_type = _TYPES[declared]
        return python_type, field(metadata={"kafka_type": kafka_type})
    return tuple[declared, ...], field()  # type: ignore[valid-type]
