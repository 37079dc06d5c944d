"""The moves from a whole level of states at once: what :meth:`World.successors` gives for each of them, in the same order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.harness.search.explore.frozen import Word
from tidemark.harness.search.explore.moves import Kind
from tidemark.harness.search.explore.numbered import Numbered
from tidemark.harness.search.explore.table import Numbers, Table
from tidemark.harness.search.explore.world import CRASH, FREE, LAPSE, RECORD, Told, World

PRICES = (FREE, RECORD, CRASH, LAPSE)
SLOTS = 20
"""Bits for the place of a move among those of its state."""
_NTH = 12
_NONE = -1
Tells = tuple[tuple[int, Word], ...]
"""Who is told what."""


class Reached(NamedTuple):
    """States that moves lead to, a row each: which row they came from, and which of its moves it was (ascending with the order)."""

    rows: Numbers
    origin: Numbers
    slot: Numbers


class Levels:
    """Expands states, a row of numbers each, in a world."""

    def __init__(self, world: World) -> None:
        """See the class."""
        self.world = world
        self.tells: Numbered[Tells] = Numbered()
        self._sequences: Numbered[tuple[int, ...]] = Numbered()
        self._sequences.number(())
        self._heard = np.zeros((0, world.bounds.brokers), np.int64)
        self.alone = Table(
            2, lambda place, _: [(then, PRICES.index(price)) for _, then, price in world.moves_alone(place)]
        )
        self.pairs = Table(2, lambda mine, theirs: [(a, b) for _, a, b in world.moves_together(mine, theirs)])
        self.decisions = Table(
            3,
            lambda common, place: [
                (left, then, self._told(told)) for _, left, then, told in world.decide(common, place)
            ],
        )
        self.returns = Table(3, self._return)
        self.control = Table(
            3,
            lambda common, _: [
                (left, self._told(told), move.broker if move.kind is Kind.LAPSE else 0)
                for move, left, told in world.moves_of_controller(common)
            ],
        )
        self._hears = Table(1, self._hear)
        self._spent = Table(1, lambda common, price: [(world.spend(common, PRICES[price]),)])
        self._cut = Table(1, lambda place, _: [(world.cut_off(place),)])
        self._commits = Table(1, lambda common, place: [(world.commit(common, place),)])
        self._core = (self.alone, self.pairs, self.decisions, self.returns, self.control, self._hears)

    def worked_out(self) -> int:
        """How often the core was asked."""
        return sum(table.worked_out for table in self._core)

    def needed(self, rows: Numbers) -> list[tuple[Table, tuple[Numbers, Numbers]]]:
        """What :meth:`successors` looks up of what the core does: the tables, and keys in each."""
        asks, proposes, away = np.array(self.world.asks), np.array(self.world.proposes), np.array(self.world.away)
        commons, places = np.repeat(rows[:, 0], self.world.bounds.brokers), rows[:, 1:].ravel()
        asked = asks[places]
        leaders = np.take_along_axis(rows, asked.reshape(-1, self.world.bounds.brokers), axis=1).ravel()
        following, proposing, lonely = asked > 0, (asked == 0) & proposes[places], away[commons]
        return [
            (self.alone, (places, np.zeros_like(places))),
            (self.pairs, (places[following], leaders[following])),
            (self.decisions, (commons[proposing], places[proposing])),
            (self.returns, (commons[lonely], places[lonely])),
            (self.control, (rows[:, 0], np.zeros_like(rows[:, 0]))),
        ]

    def successors(self, rows: Numbers) -> Reached:
        """Every move from every row that is possible and changes something."""
        world, brokers = self.world, range(1, rows.shape[1])
        found: list[Reached] = []
        asks, proposes, away = np.array(world.asks), np.array(world.proposes), np.array(world.away)
        for broker in brokers:
            found.append(self._moves_alone(rows, broker, 2 * broker))
            asked = asks[rows[:, broker]]
            found.append(self._moves_together(rows, np.flatnonzero(asked), broker, asked, 2 * broker + 1))
            proposing = np.flatnonzero((asked == 0) & proposes[rows[:, broker]])
            found.append(self._with_controller(self.decisions, rows, proposing, broker, 2 * broker + 1))
        lonely = np.flatnonzero(away[rows[:, 0]])
        if len(lonely):
            last = 2 * len(brokers) + 1
            found += [self._with_controller(self.returns, rows, lonely, broker, last + broker) for broker in brokers]
        found.append(self._moves_of_controller(rows, 4 * len(brokers) + 4))
        then, origin, slot = (np.concatenate([getattr(one, part) for one in found]) for part in Reached._fields)
        if world.watch_commits:
            for broker in brokers:
                then[:, 0] = self._commits.values(then[:, 0], then[:, broker])
        return Reached(then, origin, slot)

    def _moves_alone(self, rows: Numbers, broker: int, turn: int) -> Reached:
        which, nth, values = self.alone.rows(rows[:, broker])
        then = rows[which]
        then[:, broker] = values[:, 0]
        dear = np.flatnonzero(values[:, 1])
        then[dear, 0] = self._spent.values(then[dear, 0], values[dear, 1])
        return _affordable(Reached(then, which, turn << _NTH | nth))

    def _moves_together(self, rows: Numbers, asking: Numbers, broker: int, asked: Numbers, turn: int) -> Reached:
        leader = asked[asking]
        which, nth, values = self.pairs.rows(rows[asking, broker], rows[asking, leader])
        origin = asking[which]
        then = rows[origin]
        then[:, broker] = values[:, 0]
        then[np.arange(len(then)), leader[which]] = values[:, 1]
        return Reached(then, origin, turn << _NTH | nth)

    def _with_controller(self, table: Table, rows: Numbers, those: Numbers, broker: int, turn: int) -> Reached:
        which, nth, values = table.rows(rows[those, 0], rows[those, broker])
        origin = those[which]
        then = rows[origin]
        then[:, 0], then[:, broker] = values[:, 0], values[:, 1]
        self._tell(then, values[:, 2])
        return Reached(then, origin, turn << _NTH | nth)

    def _moves_of_controller(self, rows: Numbers, turn: int) -> Reached:
        which, nth, values = self.control.rows(rows[:, 0])
        then = rows[which]
        then[:, 0] = values[:, 0]
        lapsed = values[:, 2]
        if lapsed.any():
            up = np.array([place.up for place in self.world.places.values])
            for broker in range(1, rows.shape[1]):
                those = np.flatnonzero(lapsed == broker)
                running = those[up[then[those, broker]]]
                then[running, 0] = self._spent.values(then[running, 0], PRICES.index(LAPSE))
                then[those, broker] = self._cut.values(then[those, broker])
        self._tell(then, values[:, 1])
        return _affordable(Reached(then, which, turn << _NTH | nth))

    def _tell(self, rows: Numbers, tells: Numbers) -> None:
        """Brokers are told what the controller says to them; in place."""
        if len(self._heard) < len(self.tells):
            new = [
                [
                    self._sequences.number(tuple(self.world.words.number(word) for to, word in told if to == broker))
                    for broker in self.world.bounds.nodes()
                ]
                for told in self.tells.values[len(self._heard) :]
            ]
            self._heard = np.concatenate([self._heard, np.array(new, np.int64)])
        for broker in range(1, rows.shape[1]):
            words = self._heard[tells, broker - 1]
            those = np.flatnonzero(words)
            rows[those, broker] = self._hears.values(rows[those, broker], words[those])

    # What the tables hold

    def _told(self, told: Told) -> int:
        return self.tells.number(tuple((to, self.world.words.values[word]) for to, word in told))

    def _return(self, common: int, place: int) -> list[tuple[int, int, int]]:
        back = self.world.return_of(common, place)
        return [] if back is None else [(back[1], back[2], self._told(back[3]))]

    def _hear(self, place: int, sequence: int) -> list[tuple[int]]:
        for word in self._sequences.values[sequence]:
            place = self.world.told(place, word)
        return [(place,)]


def _affordable(reached: Reached) -> Reached:
    """Without those for which there was nothing left."""
    paid = reached.rows[:, 0] != _NONE
    return reached if paid.all() else Reached(reached.rows[paid], reached.origin[paid], reached.slot[paid])
