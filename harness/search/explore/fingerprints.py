"""States by 64 bits that are the same in every process, whatever numbers it has given to the parts of a state.

A state's fingerprint is the sum of those of its parts (BLAKE2b of what they hold), and that of a state that stands for all its
renamings. Two different states among a million have the same one with a probability of 3 in 100 million, among ten million of 3 in
a million; then one of them is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise, permutations
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidemark.harness.search.explore.frozen import Names, Place, renamed_common, renamed_place
from tidemark.harness.search.explore.symmetry import look_of_place, looks_of_common
from tidemark.harness.search.explore.table import Numbers
from tidemark.harness.search.explore.world import World

Prints = NDArray[np.uint64]
T = TypeVar("T")
_SALT = np.uint64(0x9E3779B97F4A7C15)
_HASHED = 56
"""Bits of what sorts brokers that are a hash. Above them: whom the controller has leading comes first, then who knows the newest
epoch. The first is mostly the leader then, and there are fewer kinds of brokers, and of pairs, than if chance sorted them.
"""
_NOT_LEADING = 1 << 63
_NEWEST = 127


def print_of(value: object) -> int:
    """Of a tuple of plain values and tuples."""
    return int.from_bytes(blake2b(repr(value).encode(), digest_size=8).digest(), "big")


class PrintsOf(Generic[T]):
    """The fingerprints of values that have numbers, as an array that grows with them."""

    def __init__(self, values: Sequence[T]) -> None:
        """The sequence may grow later."""
        self._values = values
        self._prints: Prints = np.empty(0, np.uint64)

    def __call__(self) -> Prints:
        """Of all that there are now."""
        known = len(self._prints)
        if known < len(self._values):
            new = np.array([print_of(value) for value in self._values[known:]], np.uint64)
            self._prints = np.concatenate([self._prints, new])
        return self._prints


class Fingerprints:
    """Finds the one among all renamings of each state that stands for them, and its fingerprint."""

    def __init__(self, world: World, *, merging: bool = True) -> None:
        """``merging``: whether states that differ in the brokers' names only are one."""
        self._world = world
        nodes = world.bounds.nodes()
        one_name = (
            bool(world.variant.truncation_at) or not merging
        )  # a broker with a rule of its own is not like the others
        self._orders: list[Names] = [nodes] if one_name else list(permutations(nodes))
        self._places: dict[Names, Numbers] = {names: np.empty(0, np.int64) for names in self._orders}
        self._commons: dict[Names, Numbers] = {names: np.empty(0, np.int64) for names in self._orders}
        self.common_prints, self.place_prints = PrintsOf(world.commons.values), PrintsOf(world.places.values)
        self._place_looks: Prints = np.empty((0, 2), np.uint64)
        self._common_looks: Prints = np.empty((0, len(nodes), 2), np.uint64)

    def of(self, rows: Numbers) -> Prints:
        """Of the states themselves."""
        commons, places = self.common_prints(), self.place_prints()
        found = commons[rows[:, 0]]
        for broker in range(1, rows.shape[1]):
            found += places[rows[:, broker]]
        return found

    def canonical(self, rows: Numbers) -> tuple[Numbers, Prints]:
        """The states that stand for these, and their fingerprints."""
        if len(self._orders) == 1:
            return rows, self.of(rows)
        keys = self._looks(rows)
        chosen = rows.copy()
        least = np.zeros(len(rows), np.uint64)
        found = np.zeros(len(rows), bool)
        for names in self._orders:
            at = np.argsort(names)  # who has the first new name, who the second
            sorted_by_look = np.ones(len(rows), bool)
            for one, other in pairwise(at):
                sorted_by_look &= keys[:, one] <= keys[:, other]
            those = np.flatnonzero(sorted_by_look)
            if not len(those):
                continue
            renamed = self._renamed(rows[those], names)
            prints = self.of(renamed)
            better = ~found[those] | (prints < least[those])
            chosen[those[better]], least[those[better]] = renamed[better], prints[better]
            found[those] = True
        return chosen, least

    def _looks(self, rows: Numbers) -> Prints:
        """What sorts the brokers of each state, whatever their names are."""
        commons, places = self._world.commons.values, self._world.places.values
        if len(self._place_looks) < len(places):
            looks = [(print_of(look_of_place(one)), _age(one)) for one in places[len(self._place_looks) :]]
            self._place_looks = np.concatenate([self._place_looks, np.array(looks, np.uint64)])
        if len(self._common_looks) < len(commons):
            nodes = self._world.bounds.nodes()
            new = [
                [
                    (print_of(look), 0 if one.controller.leader == node else _NOT_LEADING)
                    for node, look in zip(nodes, looks_of_common(one, nodes), strict=True)
                ]
                for one in commons[len(self._common_looks) :]
            ]
            self._common_looks = np.concatenate([self._common_looks, np.array(new, np.uint64)])
        own, common = self._place_looks[rows[:, 1:]], self._common_looks[rows[:, 0]]
        hashed = own[..., 0] * _SALT + common[..., 0]
        found: Prints = own[..., 1] | common[..., 1] | hashed >> np.uint64(64 - _HASHED)
        return found

    def _renamed(self, rows: Numbers, names: Names) -> Numbers:
        """The same clusters under other names."""
        world = self._world
        if names == world.bounds.nodes():
            return rows
        then = np.empty_like(rows)
        commons, places = (
            _grown(self._commons[names], len(world.commons)),
            _grown(self._places[names], len(world.places)),
        )
        for number in np.unique(rows[:, 0][commons[rows[:, 0]] < 0]).tolist():
            commons[number] = world.numbered_common(renamed_common(world.commons.values[number], names))
        for number in np.unique(rows[:, 1:][places[rows[:, 1:]] < 0]).tolist():
            places[number] = world.numbered_place(renamed_place(world.places.values[number], names))
        self._commons[names], self._places[names] = commons, places
        then[:, 0] = commons[rows[:, 0]]
        for old, new in enumerate(names, 1):
            then[:, new] = places[rows[:, old]]
        return then


def _age(place: Place) -> int:
    """The less, the newer the epoch that a broker knows."""
    return _NEWEST - min(place.replica.leader_epoch + 1, _NEWEST) << _HASHED


def _grown(numbers: Numbers, size: int) -> Numbers:
    """With −1 for what is not known yet."""
    return np.concatenate([numbers, np.full(size - len(numbers), -1, np.int64)])
