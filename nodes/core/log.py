"""The log of one replica: a list of batches. Offsets are exclusive where they are ends.

Batches, not records, are what is appended, fetched and cut (the seed's KIP-279 scenario 1 turns on this).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter


@dataclass(slots=True, init=False)
class Batch:
    """A record batch as its leader wrote it; never changed afterwards, so replicas may share one object.

    Attributes:
        base: offset of the first record.
        epoch: leader epoch of the leader that appended it first.
        values: one entry a record; the core looks at their number only, so they may be decoded as late as one likes.
        end: offset after the last record.
    """

    base: int
    epoch: int
    values: Sequence[int]
    end: int

    def __init__(self, base: int, epoch: int, values: Sequence[int]) -> None:
        """It ends where its values do."""
        self.base = base
        self.epoch = epoch
        self.values = values
        self.end = base + len(values)


_base = attrgetter("base")
_end = attrgetter("end")


class OutOfOrderError(Exception):
    """A batch begins below the log's end (``UnexpectedAppendOffsetException``)."""


@dataclass(slots=True)
class Log:
    """What a replica has, in order.

    Attributes:
        batches: as they lie on the disk, in order. Between two of them offsets may be missing: a cut inside a batch takes the whole
            batch, and the log goes on where it was cut. The first ones may lie below the log start, or reach across it:
            deleted records stay until retention takes whole batches away (Kafka: segments).
        start: log start offset; nothing below it is read any more.
        leo: log end offset; −1 for where the batches end, or, without any, the log start. After a cut it may lie behind the last
            batch.
    """

    batches: list[Batch] = field(default_factory=list)
    start: int = 0
    leo: int = -1

    def __post_init__(self) -> None:
        """Derive the end offset."""
        if self.leo < 0:
            self.leo = self.batches[-1].end if self.batches else self.start

    @property
    def base(self) -> int:
        """Where the first batch begins (Kafka: the first segment's base offset); without any, the log end offset."""
        return self.batches[0].base if self.batches else self.leo

    def append(self, batch: Batch) -> None:
        """Add a batch at the end. A leader's hole becomes the follower's.

        Raises:
            OutOfOrderError: the batch begins below :attr:`leo`.
        """
        if batch.base < self.leo:
            raise OutOfOrderError
        self.batches.append(batch)
        self.leo = batch.end

    def read(self, offset: int, limit: int) -> list[Batch]:
        """Up to ``limit`` whole batches from the first that ends behind ``offset`` on (as Kafka reads: never half a batch)."""
        batches = self.batches
        if not batches or offset >= batches[-1].end:
            return []
        if offset >= batches[-1].base:
            return batches[-1:]
        first = bisect_right(batches, offset, key=_end)
        return batches[first : first + limit]

    def truncate(self, offset: int) -> int:
        """Cut everything from ``offset`` on, which is the new log end; a batch that straddles the cut goes whole.

        A cut below the log start moves the log start down to the new end (``Log.truncateTo``, Kafka 2.8; ``UnifiedLog``, 3.9).

        Returns:
            Where the records end that are left; it may lie below ``offset``.
        """
        batches = self.batches
        base = self.base
        if offset < self.leo:
            del batches[bisect_right(batches, offset, key=_end) :]
            self.leo = offset
            self.start = min(self.start, offset)
        return batches[-1].end if batches else min(base, self.leo)

    def begin_at(self, offset: int) -> None:
        """Drop everything; the log is empty, begins and ends at ``offset`` (``truncateFullyAndStartAt``)."""
        self.batches.clear()
        self.start = self.leo = offset

    def drop(self, offset: int) -> None:
        """Take the batches away that end at or below ``offset``, which must not lie above the log start."""
        del self.batches[: bisect_right(self.batches, offset, key=_end)]
