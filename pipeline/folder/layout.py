"""Which plans make a chunk. A chunk follows from its number, so that no list of chunks travels to whoever works on one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any


@dataclass(frozen=True, slots=True)
class Chunk:
    """Plans `first` … `stop` - 1 under `variant`; `number` counts from 0 within the variant."""

    variant: str
    number: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """The next `plans` plans of a campaign, `chunk_size` of them in a chunk. A campaign that has grown has several stretches."""

    plans: int
    chunk_size: int

    def __post_init__(self) -> None:
        """Refuse an empty one."""
        if self.plans < 1 or self.chunk_size < 1:
            raise ValueError("a stretch has at least one plan, and a chunk at least one")

    @property
    def chunks(self) -> int:
        """How many; the last one may be smaller than the others."""
        return -(-self.plans // self.chunk_size)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a campaign's plans are cut into chunks, the same under each of its variants.

    A *task* is the number of a chunk of any variant. Tasks are in the order of work: every variant meets the same plans at about
    the same time.
    """

    variants: tuple[str, ...]
    stretches: tuple[Stretch, ...]

    @property
    def plans(self) -> int:
        """Plans under each variant."""
        return sum(stretch.plans for stretch in self.stretches)

    @property
    def chunks(self) -> int:
        """Chunks of each variant."""
        return sum(stretch.chunks for stretch in self.stretches)

    @property
    def tasks(self) -> int:
        """Chunks of all variants."""
        return self.chunks * len(self.variants)

    def chunk(self, variant: str, number: int) -> Chunk:
        """Chunk `number` of a variant.

        Raises:
            IndexError: There is none.
        """
        if not 0 <= number < self.chunks:
            raise IndexError(f"there is no chunk {number}")
        ends = list(accumulate(stretch.chunks for stretch in self.stretches))
        which = bisect_right(ends, number)
        stretch = self.stretches[which]
        begin = sum(one.plans for one in self.stretches[:which])
        within = number - (ends[which] - stretch.chunks)
        first = begin + within * stretch.chunk_size
        return Chunk(variant, number, first, min(first + stretch.chunk_size, begin + stretch.plans))

    def task(self, task: int) -> Chunk:
        """The chunk of a task."""
        number, which = divmod(task, len(self.variants))
        return self.chunk(self.variants[which], number)

    def to_json(self) -> list[dict[str, Any]]:
        """The stretches as JSON values."""
        return [{"plans": stretch.plans, "chunk_size": stretch.chunk_size} for stretch in self.stretches]

    @classmethod
    def of(cls, variants: Sequence[str], stretches: Sequence[dict[str, Any]]) -> Layout:
        """Read what `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: It did not.
        """
        return cls(tuple(variants), tuple(Stretch(int(one["plans"]), int(one["chunk_size"])) for one in stretches))
