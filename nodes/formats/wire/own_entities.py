"""Entities of ours, declared as kio declares its own, so that kio reads and writes them."""

from __future__ import annotations

from dataclasses import MISSING, field, make_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType
from kio.static.primitive import Records, i16, i32, i64

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 0

_TYPES: dict[str, tuple[str, Any]] = {
    "string": ("string", str),
    "bool": ("bool", bool),
    "error_code": ("error_code", ErrorCode),
    "int32": ("int32", i32),
    "int32s": ("int32", tuple[i32, ...]),
    "int64": ("int64", i64),
    "int64s": ("int64", tuple[i64, ...]),
    "records": ("records", Records),
}

Declared: TypeAlias = "str | type"


class MayLack(NamedTuple):
    """A field that a maker of the entity may leave out; with a tag, it is a tagged one."""

    declared: Declared
    default: object
    tag: int | None = None


def entity(
    name: str, key: int, kind: EntityType, header: type, shape: Mapping[str, Declared | MayLack], version: int = VERSION
) -> Any:  # noqa: ANN401 (a class)
    """A class of such entities, flexible.

    Args:
        name: of the class.
        key: of the API.
        kind: request, response, or nested, which is part of others.
        header: kio's class of its header.
        shape: field → its type, in order, as they lie on the wire: ``string``, ``bool``, ``int64``, ``int64s`` for an array,
            ``records`` and so on; or a class of nested ones, of which there is an array.
        version: of the API.
    """
    fields = [(one, *_field(declared)) for one, declared in shape.items()]
    attributes = {
        "__type__": kind,
        "__version__": i16(version),
        "__flexible__": True,
        "__api_key__": i16(key),
        "__header_schema__": header,
    }
    return make_dataclass(name, fields, namespace=attributes, frozen=True, slots=True, kw_only=True)


def _field(declared: Declared | MayLack) -> tuple[Any, Any]:
    told, default, tag = declared if isinstance(declared, MayLack) else MayLack(declared, MISSING)
    metadata: dict[str, object] = {} if tag is None else {"tag": tag}
    if isinstance(told, str):
        metadata["kafka_type"], python_type = _TYPES[told]
        return python_type, field(metadata=metadata, default=default)
    return tuple[told, ...], field(metadata=metadata, default=default)  # type: ignore[valid-type]
