"""Finished chunks on their way from Spark's tasks to the driver.

A task's chunk travels with the news that the task has ended, in an accumulator. Of a task that was tried again, or ran twice, Spark
takes the first that ended well, and only once. So workers need no folder, and no two attempts write the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark import AccumulatorParam

from tidemark.pipeline.chunks.chunk import FinishedChunk


class ChunkAccumulator(AccumulatorParam[list[FinishedChunk]]):
    """What tasks bring. On a worker it is collected; on the driver, where it has a `take`, it is handed on and not kept."""

    def __init__(self, take: Callable[[Sequence[FinishedChunk]], None] | None = None) -> None:
        self._take = take

    def __reduce__(self) -> tuple[type[ChunkAccumulator], tuple[()]]:
        """As it travels to a worker."""
        return ChunkAccumulator, ()

    def zero(self, value: list[FinishedChunk]) -> list[FinishedChunk]:
        """None yet."""
        return []

    def addInPlace(  # noqa: N802  Spark's
        self, value1: list[FinishedChunk], value2: list[FinishedChunk]
    ) -> list[FinishedChunk]:
        """Both, or what was there, once the new ones are handed on."""
        if self._take is None:
            value1.extend(value2)
        else:
            self._take(value2)
        return value1
