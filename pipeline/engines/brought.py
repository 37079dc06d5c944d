"""Finished chunks, or what else tasks of Spark's find, on their way to the driver.

It travels with the news that the task has ended, in an accumulator. Of a task that was tried again, or ran twice, Spark takes the
first that ended well, and only once. So workers need no folder, and no two attempts write the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark import AccumulatorParam


class Brought(AccumulatorParam[list[Any]]):
    """What tasks bring: it is collected in one list; on a driver that has a `take`, it is handed on and not kept."""

    def __init__(self, take: Callable[[Sequence[Any]], None] | None = None) -> None:
        self._take = take

    def __reduce__(self) -> tuple[type[Brought], tuple[()]]:
        """As it travels to a worker."""
        return Brought, ()

    def zero(self, value: list[Any]) -> list[Any]:
        """None yet."""
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:  # noqa: N802  Spark's
        """Both; the first one grows, so that whoever looks on sees it. Or what was there, once the new ones are handed on."""
        if self._take is None:
            value1.extend(value2)
        else:
            self._take(value2)
        return value1
