"""What one or two small numbers come to: worked out once, by the core, and looked up for a whole level of states at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_LOW = 32


class Rows(NamedTuple):
    """For each asked key as many rows as it has: which of the keys, which of its rows, and the row."""

    which: Numbers
    nth: Numbers
    values: Numbers


class Table:
    """Key → rows of numbers.

    Args:
        width: of a row.
        work: gives the rows of a key; the two numbers that it was made of are its arguments.
    """

    def __init__(self, width: int, work: Callable[[int, int], Sequence[tuple[int, ...]]]) -> None:
        """Nothing is worked out yet."""
        self._width, self._work = width, work
        self.worked_out = 0
        """How many keys were, here."""
        self._keys = self._starts = self._counts = np.empty(0, np.int64)
        self._rows = np.empty((0, width), np.int64)

    def rows(self, one: Numbers, other: Numbers | int = 0) -> Rows:
        """All rows of all keys, in the keys' order."""
        at = self._places(one << _LOW | other)
        counts = self._counts[at]
        which = np.repeat(np.arange(len(at)), counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return Rows(which, nth, self._rows[self._starts[at][which] + nth])

    def counts(self, one: Numbers, other: Numbers) -> Numbers:
        """How many rows each key has."""
        found: Numbers = self._counts[self._places(one << _LOW | other)]
        return found

    def values(self, one: Numbers, other: Numbers | int = 0) -> Numbers:
        """The first number of each key's only row."""
        at = self._places(one << _LOW | other)
        found: Numbers = self._rows[self._starts[at], 0]
        return found

    def unknown(self, one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
        """The keys among these that were not worked out yet, each once."""
        keys = np.unique(one << _LOW | other)
        missing = keys[~self._knows(keys, np.searchsorted(self._keys, keys))]
        return missing >> _LOW, missing & (1 << _LOW) - 1

    def learn(self, one: Numbers, other: Numbers, counts: Numbers, rows: Numbers) -> None:
        """What others have worked out: of keys that are unknown here how many rows each has, and the rows, in the keys' order."""
        keys, starts = one << _LOW | other, len(self._rows) + np.cumsum(counts) - counts
        by = np.argsort(keys)
        self._insert(keys[by], starts[by], counts[by], rows)

    def _knows(self, keys: Numbers, at: Numbers) -> NDArray[np.bool_]:
        known = np.zeros(len(keys), bool)
        inside = at < len(self._keys)
        known[inside] = self._keys[at[inside]] == keys[inside]
        return known

    def _places(self, keys: Numbers) -> Numbers:
        """Where in the table each key is; those that are missing are worked out first."""
        wanted, back = np.unique(keys, return_inverse=True)
        at = np.searchsorted(self._keys, wanted)
        known = self._knows(wanted, at)
        if not known.all():
            self._work_out(wanted[~known])
            at = np.searchsorted(self._keys, wanted)
        places: Numbers = at[back]
        return places

    def _work_out(self, keys: Numbers) -> None:
        found = [self._work(key >> _LOW, key & (1 << _LOW) - 1) for key in keys.tolist()]
        self.worked_out += len(keys)
        counts = np.array([len(rows) for rows in found], np.int64)
        rows = np.array([row for rows in found for row in rows], np.int64).reshape(-1, self._width)
        self._insert(keys, len(self._rows) + np.cumsum(counts) - counts, counts, rows)

    def _insert(self, keys: Numbers, starts: Numbers, counts: Numbers, rows: Numbers) -> None:
        """Keys ascending; the rows go to the end."""
        at = np.searchsorted(self._keys, keys)
        self._keys = np.insert(self._keys, at, keys)
        self._starts, self._counts = np.insert(self._starts, at, starts), np.insert(self._counts, at, counts)
        self._rows = np.concatenate([self._rows, rows])
