"""Each process has numbers of its own for the parts of states; between processes a part is its fingerprint.

A process that has not met a part is told what it holds, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.harness.search.explore.fingerprints import Prints, PrintsOf
from tidemark.harness.search.explore.table import Numbers


class Spoken(NamedTuple):
    """Numbers as another process understands them: which of some fingerprints, and what those hold that it may not have met."""

    which: NDArray[np.int32]
    prints: Prints
    new: list[Any]


class Vocabulary:
    """Values that have numbers here.

    Args:
        values: by number; they may become more. prints: theirs. number: gives a value its number.
        size: how many processes there are.
    """

    def __init__(self, values: Sequence[Any], prints: PrintsOf[Any], number: Callable[[Any], int], size: int) -> None:
        """See the class."""
        self._values, self.prints, self._number = values, prints, number
        self._known = np.zeros((size, 0), bool)
        """Process, number → whether it knows that value."""
        self._by_print, self._sorted = np.empty(0, np.int64), np.empty(0, np.uint64)

    def say(self, numbers: Numbers, to: int) -> Spoken:
        """For one process."""
        self._grow()
        said = np.zeros(len(self._values), bool)
        said[numbers] = True
        which = (np.cumsum(said, dtype=np.int32) - 1)[numbers]
        new = np.flatnonzero(said & ~self._known[to])
        self._known[to][new] = True
        return Spoken(which, self.prints()[said], [self._values[number] for number in new.tolist()])

    def hear(self, spoken: Spoken, of: int) -> Numbers:
        """The numbers that these have here."""
        new = np.array([self._number(value) for value in spoken.new], np.int64)
        self._grow()
        self._known[of][new] = True
        if len(self._sorted) < len(self._values):
            prints = self.prints()
            self._by_print = np.argsort(prints)
            self._sorted = prints[self._by_print]
        at = np.searchsorted(self._sorted, spoken.prints)
        if (self._sorted.take(at, mode="clip") != spoken.prints).any():
            raise ValueError("two processes have different fingerprints for the same part of a state")
        found: Numbers = self._by_print[at][spoken.which]
        return found

    def _grow(self) -> None:
        missing = len(self._values) - self._known.shape[1]
        if missing:
            self._known = np.concatenate([self._known, np.zeros((len(self._known), missing), bool)], axis=1)
