"""What two values have in common: equal ones get one number, whatever lists and maps they are made of.

JSON's and EDN's values compare as they do there, not as they do in Python: ``true`` is no ``1``. A list and a tuple with equal
items are equal, so are a set and a frozen set.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

Value = Any
"""Anything that JSON or EDN can say."""

DEPTH = 100
"""How deep a value may be nested."""


def identity(value: Value, depth: int = 0) -> Hashable:
    """Something that can be hashed, and that is equal for equal values only.

    Raises:
        ValueError: the value is nested too deep, or cannot be compared.
    """
    if value is None or type(value) in (int, str):
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float):
        return value if value == value else ("nan",)  # noqa: PLR0124 - NaN is equal to nothing, itself included
    if depth == DEPTH:
        raise ValueError(f"a value is nested more than {DEPTH} deep")
    if isinstance(value, (list, tuple)):
        return ("list", *(identity(item, depth + 1) for item in value))
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(identity(item, depth + 1) for item in value))
    if isinstance(value, dict):
        return ("map", frozenset((identity(k, depth + 1), identity(v, depth + 1)) for k, v in value.items()))
    try:
        hash(value)
    except TypeError:
        raise ValueError(f"values of type {type(value).__name__} cannot be compared") from None
    return value  # type: ignore[no-any-return]


class Values:
    """Numbers for values, in the order in which they are first seen; 0 is `None`."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {None: 0}
        self._values: list[Value] = [None]

    def number(self, value: Value) -> int:
        """The value's number.

        Raises:
            ValueError: as `identity`.
        """
        key = identity(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
        return number

    def value(self, number: int) -> Value:
        """The value, as it was first seen."""
        return self._values[number]
