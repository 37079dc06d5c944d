"""Values that are equal have one number: comparing and hashing a state is then comparing and hashing a few small integers."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Numbered(Generic[T]):
    """Numbers values in the order in which they are first met."""

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        """No value yet."""
        self._numbers: dict[T, int] = {}
        self.values: list[T] = []

    def number(self, value: T) -> int:
        """The value's number, a new one if it was not met before."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def __len__(self) -> int:
        """How many there are."""
        return len(self.values)
