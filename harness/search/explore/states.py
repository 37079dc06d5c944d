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
from tidemark.harness.search.explore.mesh import Mesh
from tidemark.harness.search.explore.runs import Runs
from tidemark.harness.search.explore.sharing import Sharing
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
        by = np.argsort(prints)
        prints, order = prints[by], order[by]
        begins = np.ones(len(by), bool)
        begins[1:] = prints[1:] != prints[:-1]
        earliest = np.minimum.reduceat(order, np.flatnonzero(begins))
        first = order == earliest[np.cumsum(begins) - 1]
        return cls(rows[by[first]], prints[first], order[first])

    def those(self, which: np.ndarray) -> Candidates:
        """Some of them."""
        return Candidates(self.rows[which], self.prints[which], self.order[which])


class _Trace(NamedTuple):
    """Of a level's states that are here: where they stand in it, ascending, their fingerprints, and where their parents stand."""

    places: NDArray[np.uint32]
    prints: Prints
    parents: NDArray[np.uint32]


class States:
    """A process's share of all states met so far, and of the level that was met last: those whose fingerprints are its.

    Whatever is said to be of all processes, all of them have to call.

    Attributes:
        level: its states, in the order of discovery. moves: from states that are here.
        count: of the states of all processes. size: of the level, of all processes.
    """

    def __init__(self, world: World, invariants: tuple[str, ...], mesh: Mesh) -> None:
        """The first state is met."""
        self._levels, self._fingerprints, self._views = Levels(world), Fingerprints(world), Views(world, invariants)
        self._mesh, self._sharing = mesh, Sharing(self._levels, self._fingerprints, mesh)
        self._seen = Runs()
        self._traces: list[_Trace] = []
        rows, prints = self._fingerprints.canonical(np.array([world.first()], np.int64))
        self.moves = self.count = 0
        first = Candidates(rows, prints, np.zeros(1, np.int64))
        self._take(first.those(self._owners(prints) == mesh.rank))

    @property
    def depth(self) -> int:
        """Of the level."""
        return len(self._traces) - 1

    def worked_out(self) -> int:
        """How often the core was asked, here."""
        return self._levels.worked_out()

    def prepare(self) -> None:
        """All processes together work out what the level needs."""
        self._sharing.work_out(self.level.rows)

    def parts(self) -> range:
        """Where each part of the level begins that is expanded at a time."""
        return range(0, len(self.level.rows), AT_ONCE)

    def expand(self, begin: int) -> Candidates:
        """The states that moves from a part of the level lead to, without those that were met here before."""
        rows, places = self.level.rows[begin : begin + AT_ONCE], self._traces[-1].places[begin : begin + AT_ONCE]
        reached = self._levels.successors(rows)
        self.moves += len(reached.rows)
        then, prints = self._fingerprints.canonical(reached.rows)
        order = places.astype(np.int64)[reached.origin] << SLOTS | reached.slot
        found = Candidates.together([Candidates(then, prints, order)])
        return found.those(~self._seen.have(found.prints))

    def advance(self, parts: list[Candidates]) -> None:
        """What all processes have found is the level from now on, without what was met before."""
        found = parts[0] if len(parts) == 1 else Candidates.together([self._none(), *parts])
        if self._mesh.size > 1:
            found = self._delivered(found)
        self._take(found)

    def broken(self) -> int | None:
        """Where in the level, of all processes, its first state stands that breaks an invariant."""
        wrong = self._views.broken(self.level.rows)
        here = int(self._traces[-1].places[wrong[0]]) if len(wrong) else None
        return min((place for place in self._mesh.all(here) if place is not None), default=None)

    def way(self, place: int) -> list[int]:
        """The fingerprints of the states on the way to one of the level, of all processes, the first state's left out."""
        found = []
        for trace in self._traces[:0:-1]:
            at = np.flatnonzero(trace.places == place)
            here = (int(trace.prints[at[0]]), int(trace.parents[at[0]])) if len(at) else None
            ((state, place),) = [there for there in self._mesh.all(here) if there is not None]
            found.append(state)
        return found[::-1]

    def _owners(self, prints: Prints) -> NDArray[np.int64]:
        """Whose states with these fingerprints are."""
        return (prints % np.uint64(self._mesh.size)).astype(np.int64)

    def _none(self) -> Candidates:
        return Candidates(self.level.rows[:0], self.level.prints[:0], self.level.order[:0])

    def _delivered(self, found: Candidates) -> Candidates:
        """Those that are this process's, from all; each state itself is sent once, by the process that reached it first."""
        mesh, sharing = self._mesh, self._sharing
        owners = self._owners(found.prints)
        mine = [np.flatnonzero(owners == process) for process in range(mesh.size)]
        incoming = mesh.exchange([(found.prints[which], found.order[which]) for which in mine])
        ends = np.cumsum([len(prints) for prints, _ in incoming])
        prints, order = (np.concatenate(column) for column in zip(*incoming, strict=True))
        known = Candidates.together([Candidates(np.arange(len(prints)), prints, order)])
        known = known.those(~self._seen.have(known.prints))
        senders = np.searchsorted(ends, known.rows, side="right")
        begins = np.concatenate([[0], ends[:-1]])
        wanted = [known.rows[senders == process] - begins[process] for process in range(mesh.size)]
        asked = mesh.exchange(wanted)
        parcels = [sharing.send(found.rows[mine[process][which]], process) for process, which in enumerate(asked)]
        rows = np.empty((len(known.rows), found.rows.shape[1]), np.int64)
        for process, parcel in enumerate(mesh.exchange(parcels)):
            rows[senders == process] = sharing.receive(parcel, process)
        return Candidates(rows, known.prints, known.order)

    def _take(self, found: Candidates) -> None:
        self.level = found.those(np.argsort(found.order))
        orders = np.concatenate(self._mesh.all(self.level.order))
        orders.sort()
        self.size = len(orders)
        if not self.size:
            return
        self.count += self.size
        self._seen.add(found.prints)
        places = np.searchsorted(orders, self.level.order).astype(np.uint32)
        self._traces.append(_Trace(places, self.level.prints, (self.level.order >> SLOTS).astype(np.uint32)))
