"""Invariants over many states at once: of what they look at there are far fewer kinds than states, and each is looked at once."""

from __future__ import annotations

import numpy as np

from tidemark.harness.search.explore.fingerprints import Prints, PrintsOf
from tidemark.harness.search.explore.frozen import Common, Place, Replica, Term
from tidemark.harness.search.explore.invariants import Checks
from tidemark.harness.search.explore.numbered import Numbered
from tidemark.harness.search.explore.runs import Runs
from tidemark.harness.search.explore.table import Numbers
from tidemark.harness.search.explore.world import World


def seen_of_place(place: Place) -> Place:
    """A broker as far as invariants look: nothing of what it has not heard, of its followers' ends, of what it proposes."""
    replica = place.replica
    term = None if replica.term is None else Term(0, replica.term.isr, None, ())
    told = (replica.leader_epoch, replica.leader, -1, replica.established, (), term)
    return Place(place.node, True, 1, Replica(replica.role, replica.log, (), replica.hw, *told), ())


def seen_of_common(common: Common) -> Common:
    """The controller as far as invariants look, and what was committed."""
    state = common.controller._replace(elr=(), last_leader=-1, live=(), broker_epochs=())
    return Common(state, 0, 0, 0, common.committed)


class Views:
    """What invariants see of the states of a world."""

    def __init__(self, world: World, invariants: tuple[str, ...]) -> None:
        """See the class."""
        self._world = world
        self.checks = Checks(world, invariants)
        self._commons: Numbered[Common] = Numbered()
        self._places: Numbered[Place] = Numbered()
        self._of_common, self._of_place = np.empty(0, np.int64), np.empty(0, np.int64)
        self._common_prints, self._place_prints = PrintsOf(self._commons.values), PrintsOf(self._places.values)
        self._fine = Runs()

    def broken(self, rows: Numbers) -> Numbers:
        """Which of the states break an invariant."""
        commons, places = self._world.commons.values, self._world.places.values
        new = [self._commons.number(seen_of_common(one)) for one in commons[len(self._of_common) :]]
        self._of_common = np.concatenate([self._of_common, np.array(new, np.int64)])
        new = [self._places.number(seen_of_place(one)) for one in places[len(self._of_place) :]]
        self._of_place = np.concatenate([self._of_place, np.array(new, np.int64)])
        prints: Prints = self._common_prints()[self._of_common[rows[:, 0]]]
        for broker in range(1, rows.shape[1]):
            prints = prints + self._place_prints()[self._of_place[rows[:, broker]]]
        kinds, firsts, back = np.unique(prints, return_index=True, return_inverse=True)
        unknown = np.flatnonzero(~self._fine.have(kinds))
        wrong = np.zeros(len(kinds), bool)
        for kind in unknown.tolist():
            wrong[kind] = self.checks.broken_in(*self._seen(rows[firsts[kind]])) is not None
        self._fine.add(kinds[unknown][~wrong[unknown]])
        return np.flatnonzero(wrong[back])

    def _seen(self, row: Numbers) -> tuple[Common, tuple[Place, ...]]:
        places = tuple(self._places.values[self._of_place[number]] for number in row[1:].tolist())
        return self._commons.values[self._of_common[row[0]]], places
