"""kio's response entities by API version, made from the fields that the version has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import timedelta
from functools import cache
from typing import Any

from kio.index import load_payload_module
from kio.static.constants import EntityType

PRODUCE, LIST_OFFSETS, METADATA, DELETE_RECORDS, INIT_PRODUCER_ID = 0, 2, 3, 21, 22

NO_THROTTLE = timedelta(0)


@cache
def response_entity(key: int, version: int, name: str) -> Callable[..., Any]:
    """Makes the response's entity (or one that is part of it) of this name, in this version of the API.

    The function takes keyword arguments, and ignores those that the version has no field for.
    """
    made = getattr(load_payload_module(key, version, EntityType.response), name)
    known = frozenset(f.name for f in fields(made))

    def make(**values: object) -> Any:  # noqa: ANN401 (a class chosen at run time)
        return made(**{field: value for field, value in values.items() if field in known})

    return make
