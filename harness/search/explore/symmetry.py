"""Brokers are alike: two states that differ in the brokers' names only are one."""

from __future__ import annotations

from itertools import permutations

from tidemark.harness.search.explore.frozen import Common, Names, Place, renamed_common, renamed_place
from tidemark.harness.search.explore.numbered import Numbered
from tidemark.harness.search.explore.world import State, World


class Symmetry:
    """Finds the one among all renamings of a state that stands for them.

    What can be said of a broker without naming any other sorts the brokers; only those of which the same can be said are tried in
    every order.
    """

    def __init__(self, world: World) -> None:
        """See the class."""
        self._world = world
        self._nodes = world.bounds.nodes()
        self._looks: Numbered[tuple[object, ...]] = Numbered()
        self._place_looks: dict[int, int] = {}
        self._common_looks: dict[int, tuple[int, ...]] = {}
        self._orders: dict[tuple[int, ...], tuple[Names, ...]] = {}
        self._places: dict[Names, dict[int, int]] = {names: {} for names in permutations(self._nodes)}
        self._commons: dict[Names, dict[int, int]] = {names: {} for names in permutations(self._nodes)}

    def canonical(self, state: State) -> State:
        """The state that stands for this one and all that are like it."""
        common = state[0]
        looks = self._common_looks.get(common)
        if looks is None:
            told = looks_of_common(self._world.commons.values[common], self._nodes)
            looks = self._common_looks[common] = tuple([self._looks.number(look) for look in told])
        seen = self._place_looks
        keys = []
        for look, place in zip(looks, state[1:], strict=True):
            own = seen.get(place)
            if own is None:
                own = seen[place] = self._looks.number(look_of_place(self._world.places.values[place]))
            keys.append(own << 20 | look)
        wanted = sorted(keys)
        ranks = tuple([wanted.index(key) for key in keys])
        orders = self._orders.get(ranks)
        if orders is None:
            orders = self._orders[ranks] = self._names_for(ranks)
        if len(orders) == 1:
            return self.renamed(state, orders[0])
        return min([self.renamed(state, names) for names in orders])

    def renamed(self, state: State, names: Names) -> State:
        """The same cluster under other names."""
        if names == self._nodes:
            return state
        world = self._world
        places, commons = self._places[names], self._commons[names]
        then = [0] * len(state)
        common = commons.get(state[0])
        if common is None:
            common = commons[state[0]] = world.numbered_common(renamed_common(world.commons.values[state[0]], names))
        then[0] = common
        for old, new in enumerate(names, 1):
            number = state[old]
            place = places.get(number)
            if place is None:
                place = places[number] = world.numbered_place(renamed_place(world.places.values[number], names))
            then[new] = place
        return tuple(then)

    def _names_for(self, keys: tuple[int, ...]) -> tuple[Names, ...]:
        """Every renaming that sorts the brokers by these keys; none but their own names where one has a rule of its own."""
        if self._world.variant.truncation_at:
            return (self._nodes,)
        wanted = sorted(keys)
        return tuple(
            names
            for names in permutations(self._nodes)
            if all(wanted[new - 1] == keys[i] for i, new in enumerate(names))
        )


def looks_of_common(common: Common, nodes: Names) -> list[tuple[object, ...]]:
    """What can be said of each broker by what belongs to none, without naming any other."""
    state = common.controller
    return [
        (
            "common",
            state.leader == b,
            state.last_leader == b,
            b in state.isr,
            b in state.elr,
            b in state.live,
            state.broker_epochs[b - 1],
        )
        for b in nodes
    ]


def look_of_place(place: Place) -> tuple[object, ...]:
    """What can be said of a broker without naming any other."""
    replica, own = place.replica, place.node
    term = replica.term
    look: tuple[object, ...] = (
        place.up,
        place.broker_epoch,
        replica.role,
        replica.log,
        replica.cache,
        replica.hw,
        replica.leader_epoch,
        _look(replica.leader, own),
        _look(replica.last_leader, own),
        replica.established,
        replica.answers,
        len(replica.dead),
        tuple((_look(word.leader, own), word.epoch, len(word.isr), own in word.isr) for word in place.unheard),
    )
    if term is None:
        return look
    pending = None if term.pending is None else len(term.pending)
    known = sorted((b in term.isr, leo, epoch) for b, leo, epoch in term.remotes)
    return (*look, term.epoch_start, len(term.isr), pending, tuple(known))


def _look(broker: int, own: int) -> int:
    return broker if broker <= 0 else 1 if broker == own else 2
