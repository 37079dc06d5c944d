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
        self._keys = self._starts = self._counts = np.empty(0, np.int64)
        self._rows = np.empty((0, width), np.int64)

    def __len__(self) -> int:
        """How many keys were worked out."""
        return len(self._keys)

    def rows(self, one: Numbers, other: Numbers | int = 0) -> Rows:
        """All rows of all keys, in the keys' order."""
        at = self._places(one << _LOW | other)
        counts = self._counts[at]
        which = np.repeat(np.arange(len(at)), counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return Rows(which, nth, self._rows[self._starts[at][which] + nth])

    def values(self, one: Numbers, other: Numbers | int = 0) -> Numbers:
        """The first number of each key's only row."""
        at = self._places(one << _LOW | other)
        found: Numbers = self._rows[self._starts[at], 0]
        return found

    def _places(self, keys: Numbers) -> Numbers:
        """Where in the table each key is; those that are missing are worked out first."""
        wanted, back = np.unique(keys, return_inverse=True)
        at = np.searchsorted(self._keys, wanted)
        known = np.zeros(len(wanted), bool)
        inside = at < len(self._keys)
        known[inside] = self._keys[at[inside]] == wanted[inside]
        if not known.all():
            self._add(wanted[~known], at[~known])
            at = np.searchsorted(self._keys, wanted)
        places: Numbers = at[back]
        return places

    def _add(self, keys: Numbers, at: Numbers) -> None:
        found = [self._work(key >> _LOW, key & (1 << _LOW) - 1) for key in keys.tolist()]
        counts = np.array([len(rows) for rows in found], np.int64)
        starts = len(self._rows) + np.cumsum(counts) - counts
        self._keys = np.insert(self._keys, at, keys)
        self._starts, self._counts = np.insert(self._starts, at, starts), np.insert(self._counts, at, counts)
        rows = [row for rows in found for row in rows]
        if rows:
            self._rows = np.concatenate([self._rows, np.array(rows, np.int64).reshape(-1, self._width)])
