"""Lists to which elements are appended: the order of a key's versions is in every read of it.

Inferred is, for each key: the order of the elements in its longest read; that those which it lacks, and that may have been
appended, came after all of them, in an order that nobody knows; and that it was empty first. Aborted elements and those that nobody
appended are left out of the order. A read that is no prefix of the longest is an `incompatible-order`: it tells whom its last
element is from, and nothing of what came next. Of a key to which an element was appended twice nothing is inferred.

Source: K. Kingsbury, P. Alvaro, Elle: Inferring Isolation Anomalies from Experimental Observations (VLDB 2020), section 4;
``elle.list-append``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tidemark.checkers.history.columns.columns import Ints
from tidemark.checkers.objects.transactions.columns import IS_FAIL, IS_OK, Transactions
from tidemark.checkers.objects.transactions.dependencies import RW, WR, WW, Graph, GraphBuilder
from tidemark.checkers.objects.transactions.writers import Sight, Writers

BLOCK = 1 << 22
"""So many elements are compared at a time."""


class Lists:
    """The versions of lists.

    Attributes:
        line: the versions of all keys in their orders, key by key; of each version its `place` there, or -1.
        line_start: by key, where it begins in `line`; the end of the last.
        compatible: by row of reads, whether it is a prefix of its key's longest.
        length: by row of reads, how many of the key's order it has.
    """

    def __init__(self, found: Transactions) -> None:
        self.found = found
        self.writers = Writers(found)
        self._start = found.starts[:-1]
        self._size = np.diff(found.starts)
        self._sights: list[Sight] = []
        self._longest()
        self._compare()

    def _longest(self) -> None:
        """The longest read of each key, the first of several, and its elements that count."""
        found = self.found
        keys = len(found.keys)
        order = np.lexsort((-np.arange(len(self._size)), self._size, found.read_key))
        order = order[~self.writers.doubtful[found.read_key[order]]]
        last = order[np.append(np.diff(found.read_key[order]) != 0, True)] if len(order) else order
        self._model = np.full(keys, -1, np.int64)
        self._model[found.read_key[last]] = last
        there = self.writers.there
        size = np.zeros(keys, np.int64)
        size[found.read_key[last]] = self._size[last]
        self._model_start = np.concatenate(([0], np.cumsum(size)))
        elements = _rows(found.elements, self._start[self._model[self._model >= 0]], size[self._model >= 0])
        counts = there[elements]
        distinct = np.zeros(len(elements), np.bool_)
        distinct[np.unique(elements, return_index=True)[1]] = True
        self._model_elements, self._again = elements, ~distinct
        counts &= distinct
        self._counted = np.concatenate(([0], np.cumsum(counts)))
        self.line = elements[counts].astype(np.int64)
        self.line_start = self._counted[self._model_start]
        self.place = np.full(len(found.version_key), -1, np.int64)
        self.place[self.line] = np.arange(len(self.line))
        self._observed = np.zeros(len(found.version_key), np.bool_)
        self._observed[elements] = True

    def _blocks(self) -> Iterator[tuple[slice, Ints, Ints]]:
        """The reads, some at a time: which, their elements, and of each element the row."""
        ends = self.found.starts[1:]
        begin = 0
        while begin < len(self._size):
            to = max(begin + 1, int(np.searchsorted(ends, self._start[begin] + BLOCK, side="right")))
            rows = slice(begin, to)
            elements = self.found.elements[self._start[begin] : ends[to - 1]]
            yield rows, elements, np.repeat(np.arange(begin, to), self._size[rows])
            begin = to

    def _compare(self) -> None:
        found = self.found
        key = found.read_key
        self.compatible = ~self.writers.doubtful[key] if len(key) else np.zeros(0, np.bool_)
        shift = self._model_start[key] - self._start
        seen: list[tuple[Ints, Ints]] = []
        suspicious = self.writers.aborted | (self.writers.writer < 0)
        for rows, elements, row in self._blocks():
            begin = int(self._start[rows.start])
            known = ~self.writers.doubtful[key[row]]
            place = (np.arange(len(elements)) + begin + shift[row])[known]
            other = row[known][self._model_elements[place] != elements[known]]
            self.compatible[other] = False
            bad = np.flatnonzero(suspicious[elements])
            if len(bad):
                seen.append((elements[bad].astype(np.int64), row[bad]))
        if seen:
            self._sights += self.writers.seen(*map(np.concatenate, zip(*seen, strict=True)))
        place = self._model_start[key] + self._size
        self.length = np.where(self.compatible, self._counted[np.where(self.compatible, place, 0)], 0)
        self.length -= np.where(self.compatible, self.line_start[key], 0)

    def sights(self) -> list[Sight]:
        """What is wrong with what was read."""
        rows = np.flatnonzero(self._size)
        last = self.found.elements[self.found.starts[1:][rows] - 1].astype(np.int64)
        return [
            *self._sights,
            *self.writers.halfway(last, rows),
            *self._incompatible(),
            *self._duplicates(),
            *self._dirty_updates(),
            *self.writers.lost_updates(self._read_by_updates()),
        ]

    def _incompatible(self) -> list[Sight]:
        """One of each key: the read, and the longest."""
        rows = np.flatnonzero(~self.compatible & ~self.writers.doubtful[self.found.read_key])
        sights = []
        keys, first, count = np.unique(self.found.read_key[rows], return_index=True, return_counts=True)
        for key, row, many in zip(keys.tolist(), rows[first].tolist(), count.tolist(), strict=True):
            longest = int(self.found.read_of[self._model[key]])
            sights.append(Sight("incompatible-order", row, int(self.found.read_of[row]), many, (longest,)))
        return sights

    def _duplicates(self) -> list[Sight]:
        """One of each version that a read has twice."""
        found = self.found
        again = np.flatnonzero(self._again)
        key = np.searchsorted(self._model_start, again, side="right") - 1
        longest = self._model[key]
        pairs = {int(version): int(row) for version, row in zip(self._model_elements[again], longest, strict=True)}
        for row in np.flatnonzero(~self.compatible & ~self.writers.doubtful[found.read_key]).tolist():
            elements, times = np.unique(self.elements_of(row), return_counts=True)
            for version in elements[times > 1].tolist():
                pairs.setdefault(version, row)
        return [
            Sight("duplicate-elements", version, int(found.read_of[row]), 1) for version, row in sorted(pairs.items())
        ]

    def _dirty_updates(self) -> list[Sight]:
        """Aborted elements in an order with one that is ok behind them."""
        found, writers = self.found, self.writers
        elements = self._model_elements
        writer = writers.writer[elements]
        outcome = np.where(writer < 0, -1, found.outcome[writer])
        places = np.arange(len(elements))
        next_ok = np.minimum.accumulate(np.where(outcome == IS_OK, places, len(elements))[::-1])[::-1]
        end = self._model_start[found.version_key[elements] + 1]
        aborted = np.flatnonzero((outcome == IS_FAIL) & (next_ok < end))
        return [
            Sight("dirty-update", int(elements[place]), NO_READER, 1, (int(writer[place]), int(writer[next_ok[place]])))
            for place in aborted.tolist()
        ]

    def _read_by_updates(self) -> Ints:
        """Equal numbers for equal lists of one key, of what is read before it is written: a list is known by key and length, or
        else is itself only.
        """
        rows = self.found.updates
        longest = int(self._size.max(initial=0)) + 1
        known: Ints = self.found.read_key[rows] * longest + self._size[rows]
        beyond = len(self.found.keys) * longest
        return np.where(self.compatible[rows], known, beyond + np.arange(len(rows)))

    def elements_of(self, row: int) -> Ints:
        """What a read was answered with, as versions."""
        return self.found.elements[self.found.starts[row] : self.found.starts[row + 1]]

    def longest(self, key: int) -> list[Any]:
        """The values of the longest read of a key."""
        return [self.found.values[one] for one in self.elements_of(int(self._model[key])).tolist()]

    def graph(self) -> Graph:
        """The dependencies that reads and writes tell."""
        found, writers = self.found, self.writers
        builder = GraphBuilder(len(found))
        writer_at = writers.writer[self.line]
        key_at = found.version_key[self.line]
        same = key_at[1:] == key_at[:-1]
        builder.add(WW, writer_at[:-1][same], writer_at[1:][same])
        beyond = found.wrote[writers.there[found.wrote] & ~self._observed[found.wrote]]
        beyond_key = found.version_key[beyond]
        ends = self.line_start[1:]
        there = ends[beyond_key] > self.line_start[:-1][beyond_key]
        builder.add(WW, writer_at[ends[beyond_key[there]] - 1], writers.writer[beyond[there]])
        row = np.flatnonzero(self.compatible)
        key, reader = found.read_key[row], found.read_of[row]
        place = self.line_start[key] + self.length[row]
        some = self.length[row] > 0
        builder.add(WR, writer_at[place[some] - 1], reader[some])
        self._of_incompatible(builder)
        behind = place < ends[key]
        builder.add(RW, reader[behind], writer_at[place[behind]])
        builder.fan(RW, reader[~behind], key[~behind], writers.writer[beyond], beyond_key)
        return builder.graph()

    def _of_incompatible(self, builder: GraphBuilder) -> None:
        row = np.flatnonzero(~self.compatible & (self._size > 0))
        last = self.found.elements[self.found.starts[row + 1] - 1].astype(np.int64)
        known = self.writers.there[last]
        builder.add(WR, self.writers.writer[last[known]], self.found.read_of[row[known]])


NO_READER = -1


def _rows(elements: Ints, start: Ints, size: Ints) -> Ints:
    """The elements of some reads, one after the other."""
    before = np.cumsum(size) - size
    return elements[np.repeat(start - before, size) + np.arange(int(size.sum()))]
