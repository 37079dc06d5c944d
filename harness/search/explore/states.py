"""What a search knows of the states that it has met, a level at a time.

Of a state its fingerprint is kept, and where in the level before the state stands from which it was reached first. The states
themselves are kept of the level that is being expanded only. A level is in the order of discovery, which is that of the parents and
of their moves, whatever is expanded at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.harness.search.explore.fingerprints import Fingerprints, Prints
from tidemark.harness.search.explore.level import SLOTS, Levels
from tidemark.harness.search.explore.runs import Runs
from tidemark.harness.search.explore.table import Numbers
from tidemark.harness.search.explore.views import Views
from tidemark.harness.search.explore.world import World

AT_ONCE = 16_384
"""So many states are expanded at a time."""


class Candidates(NamedTuple):
    """States that moves lead to: rows, fingerprints, and parent and move as one number, which ascends in the order of discovery."""

    rows: Numbers
    prints: Prints
    order: Numbers

    @classmethod
    def together(cls, parts: Sequence[Candidates]) -> Candidates:
        """All of them, by fingerprint and each once: as it was reached first."""
        rows, prints, order = (np.concatenate(column) for column in zip(*parts, strict=True))
        by = np.lexsort((order, prints))
        ordered = prints[by]
        first = np.ones(len(by), bool)
        first[1:] = ordered[1:] != ordered[:-1]
        return cls(rows, prints, order).those(by[first])

    def those(self, which: np.ndarray) -> Candidates:
        """Some of them."""
        return Candidates(self.rows[which], self.prints[which], self.order[which])


class _Trace(NamedTuple):
    """Of the states of a level, in the order of discovery: fingerprints, and the places of those that they were reached from."""

    prints: Prints
    parents: NDArray[np.uint32]


class States:
    """All states met so far, and the level that was met last."""

    def __init__(self, world: World, invariants: tuple[str, ...]) -> None:
        """The first state is met."""
        self._levels, self._fingerprints, self._views = Levels(world), Fingerprints(world), Views(world, invariants)
        self._seen = Runs()
        self._traces: list[_Trace] = []
        rows, prints = self._fingerprints.canonical(np.array([world.first()], np.int64))
        self.moves = 0
        self.take(Candidates(rows, prints, np.zeros(1, np.int64)))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._seen)

    @property
    def depth(self) -> int:
        """Of the level."""
        return len(self._traces) - 1

    def worked_out(self) -> int:
        """How often the core was asked."""
        return self._levels.worked_out()

    def parts(self) -> range:
        """Where each part of the level begins that is expanded at a time."""
        return range(0, len(self.level.rows), AT_ONCE)

    def expand(self, begin: int) -> Candidates:
        """The states that moves from a part of the level lead to, without those that were met before."""
        rows = self.level.rows[begin : begin + AT_ONCE]
        reached = self._levels.successors(rows)
        self.moves += len(reached.rows)
        then, prints = self._fingerprints.canonical(reached.rows)
        order = reached.origin + begin << SLOTS | reached.slot
        found = Candidates.together([Candidates(then, prints, order)])
        return found.those(~self._seen.have(found.prints))

    def take(self, found: Candidates) -> None:
        """They are the level from now on; none of them was met before."""
        self.level = found.those(np.argsort(found.order))
        self._seen.add(found.prints)
        self._traces.append(_Trace(self.level.prints, (self.level.order >> SLOTS).astype(np.uint32)))

    def broken(self) -> int | None:
        """The place of the level's first state that breaks an invariant."""
        wrong = self._views.broken(self.level.rows)
        return int(wrong[0]) if len(wrong) else None

    def way(self, place: int) -> list[int]:
        """The fingerprints of the states on the way to one of the level, the first state's left out."""
        found = []
        for trace in self._traces[:0:-1]:
            found.append(int(trace.prints[place]))
            place = int(trace.parents[place])
        return found[::-1]
