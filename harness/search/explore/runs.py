"""A set of 64-bit numbers that grows by many at a time: a few sorted arrays, each at least twice as long as the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Runs:
    """Eight bytes for each number."""

    def __init__(self) -> None:
        """None yet."""
        self._runs: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        """How many."""
        return sum(map(len, self._runs))

    def add(self, numbers: NDArray[np.uint64]) -> None:
        """Put in numbers that are not there."""
        new = np.sort(numbers)
        while self._runs and len(self._runs[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._runs.pop(), new]), kind="stable")
        if len(new):
            self._runs.append(new)

    def have(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of the numbers are there; quickest if they are sorted."""
        found = np.zeros(len(numbers), bool)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, numbers), len(run) - 1)
            found |= run[at] == numbers
        return found
