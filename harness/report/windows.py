"""What operations came to in equal windows of time: quantiles of their latency, rates, availability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidemark.harness.report.operations import OK, OUTCOMES, Ints, Operations

Floats = NDArray[np.float64]

QUANTILES: Final = (0.5, 0.95, 0.99, 1.0)
"""Jepsen's (``jepsen.checker.perf``)."""

MOST_WINDOWS: Final = 60
LEAST_WINDOWS: Final = 12
FOR_EACH: Final = 4
"""So many operations make another window."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of `length` µs from `start` on, up to `end`, which the last one may reach beyond; each holds its beginning."""

    start: int
    end: int
    length: int

    @classmethod
    def over(cls, start: int, end: int, operations: int = FOR_EACH * MOST_WINDOWS) -> Windows:
        """For so many operations: `FOR_EACH` a window, from `LEAST_WINDOWS` to `MOST_WINDOWS` (and one more, to begin at a round
        time), of a round length: 1, 2 or 5 and zeros, in µs.
        """
        most = min(max(operations // FOR_EACH, LEAST_WINDOWS), MOST_WINDOWS)
        wanted = max((end - start) // most, 1)
        zeros = 10 ** (len(str(wanted)) - 1)
        length = next(zeros * digit for digit in (1, 2, 5, 10) if zeros * digit >= (end - start) / most or digit == 10)
        return cls(start - start % length, end, length)

    def __len__(self) -> int:
        return max((self.end - self.start) // self.length + 1, 1)

    @property
    def edges(self) -> Ints:
        """The beginnings of all, and the end of the last, µs."""
        return self.start + self.length * np.arange(len(self) + 1, dtype=np.int64)

    @property
    def covered(self) -> Ints:
        """How much of each lies before `end`, in µs; at least one."""
        return np.maximum(np.minimum(self.edges[1:], self.end) - self.edges[:-1], 1)

    def of(self, times: Ints) -> Ints:
        """In which window each time lies."""
        return np.clip((times - self.start) // self.length, 0, len(self) - 1)

    def count(self, times: Ints) -> Ints:
        """How many times lie in each window."""
        return np.bincount(self.of(times), minlength=len(self)).astype(np.int64)


def latency_quantiles(operations: Operations, f: int, windows: Windows) -> Floats:
    """The quantiles of the latencies of one kind of operation, however they ended, by the window in which they began.

    A quantile is the latency that so large a share of them did not exceed, and the least such that one of them had
    (numpy's ``inverted_cdf``).

    Returns:
        µs, a row for each of `QUANTILES`, a column for each window; NaN where none began.
    """
    found = np.full((len(QUANTILES), len(windows)), np.nan)
    chosen = np.flatnonzero(operations.timed & (operations.f == f))
    place = windows.of(operations.began[chosen])
    order = np.argsort(place, kind="stable")
    latency = operations.latency[chosen][order]
    for window, part in zip(*_parts(place[order], latency), strict=True):
        found[:, window] = np.quantile(part, QUANTILES, method="inverted_cdf")
    return found


def _parts(sorted_places: Ints, values: Ints) -> tuple[list[int], list[Ints]]:
    """The values of each place that there is."""
    if not len(values):
        return [], []
    cuts = np.flatnonzero(np.diff(sorted_places)) + 1
    return [int(sorted_places[first]) for first in (0, *cuts.tolist())], np.split(values, cuts)


def completions(operations: Operations, f: int, windows: Windows) -> Ints:
    """How many operations of a kind ended in each window: a row for each of `OUTCOMES`. Those that never ended are in none."""
    chosen = (operations.completion != -1) & (operations.f == f)
    return np.stack(
        [windows.count(operations.ended[chosen & (operations.outcome == outcome)]) for outcome in range(len(OUTCOMES))]
    )


def rates(operations: Operations, f: int, windows: Windows) -> Floats:
    """Completions per second in each window, a row for each of `OUTCOMES`; in the last window over what of it was there."""
    per_second: Floats = completions(operations, f, windows) * 1e6 / windows.covered
    return per_second


@dataclass(frozen=True, slots=True)
class Availability:
    """Of operations that have something in common, by the window in which they began.

    Attributes:
        name: what they have in common.
        begun: how many began in each window.
        succeeded: how many of these ended ok, whenever that was.
        ended_ok: how many ended ok in each window.
        waited: how many were open all the while; not those that never ended, for nobody knows how long they were waited for.
    """

    name: str
    begun: Ints
    succeeded: Ints
    ended_ok: Ints
    waited: Ints

    @property
    def share(self) -> Floats:
        """The part that succeeded in each window, NaN where none began."""
        there = self.begun > 0
        share: Floats = np.divide(self.succeeded, self.begun, out=np.full(len(self.begun), np.nan), where=there)
        return share

    @property
    def unavailable(self) -> NDArray[np.bool_]:
        """The windows in which nothing ended ok, though something was asked: an operation waited all the while, or some began and
        none of them succeeded.
        """
        in_vain = (self.begun > 0) & (self.succeeded == 0)
        found: NDArray[np.bool_] = (self.ended_ok == 0) & ((self.waited > 0) | in_vain)
        return found

    @property
    def total(self) -> float | None:
        """The part of all that succeeded."""
        begun = int(self.begun.sum())
        return int(self.succeeded.sum()) / begun if begun else None


def availability(operations: Operations, windows: Windows, name: str, chosen: Ints) -> Availability:
    """That of some of the operations, by their numbers."""
    began, ended = operations.began[chosen], operations.ended[chosen]
    succeeded = operations.outcome[chosen] == OK
    first = -((windows.start - began) // windows.length)  # the first window that begins no earlier
    last = windows.of(ended)  # the first that is not over
    waiting = first < last
    change = np.zeros(len(windows) + 1, np.int64)
    np.add.at(change, first[waiting], 1)
    np.add.at(change, last[waiting], -1)
    return Availability(
        name,
        windows.count(began),
        windows.count(began[succeeded]),
        windows.count(ended[succeeded]),
        np.cumsum(change)[:-1],
    )


def availabilities(operations: Operations, windows: Windows) -> tuple[list[Availability], list[Availability]]:
    """By kind of operation, all together first if there are several kinds; and by key, of the operations that name one."""
    kinds = [
        availability(operations, windows, name, np.flatnonzero(operations.f == f))
        for f, name in ((f, operations.fs[f]) for f in operations.kinds)
    ]
    if len(kinds) > 1:
        kinds.insert(0, availability(operations, windows, "all", np.arange(len(operations))))
    keys = [availability(operations, windows, name, chosen) for name, chosen in operations.by_key.items()]
    return kinds, keys
