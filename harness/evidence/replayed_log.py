"""One replica's log, rebuilt from its trace: record by record, with what is known of each."""

from __future__ import annotations

from typing import NamedTuple

UNKNOWN = -1
"""A leader epoch that nobody knows."""


class Record(NamedTuple):
    """One record; `value` is None if no line told of it, and `first` the base offset of its batch."""

    value: int | None
    epoch: int
    first: int


class ReplayedLog:
    """The log.

    Attributes:
        start: offset of its first record.
        records: from there on.
    """

    def __init__(self) -> None:
        self.start = 0
        self.records: list[Record] = []

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.start + len(self.records)

    def at(self, offset: int) -> Record | None:
        """The record there; None if there is none."""
        return self.records[offset - self.start] if self.start <= offset < self.end else None

    def append(self, base: int, epoch: int, values: tuple[int | None, ...]) -> None:
        """Put a batch at a place; what was there, or beyond, goes."""
        if base > self.end or base < self.start:
            self.begin_at(base)
        del self.records[base - self.start :]
        self.records += [Record(value, epoch, base) for value in values]

    def cut(self, to: int) -> None:
        """End at an offset; a batch that straddles it goes whole. A log that is cut below its beginning begins there."""
        if to < self.start:
            self.begin_at(to)
        while self.end > max(to, self.start):
            first = self.records[-1].first
            del self.records[max(first - self.start, 0) :]

    def begin_at(self, offset: int) -> None:
        """Be empty, and begin and end at an offset."""
        self.start, self.records = offset, []

    def copy(self) -> ReplayedLog:
        """As it is now."""
        log = ReplayedLog()
        log.start, log.records = self.start, list(self.records)
        return log
