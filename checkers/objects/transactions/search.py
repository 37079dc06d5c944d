"""A shortest cycle through one component, in so many steps at most.

A search begins with a dependency of one kind and looks, breadth-first, for the way back. Hubs and moments cost nothing, so that
what is short is short in transactions. Steps are counted, and no clock is asked: a history has the same cycle everywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tidemark.checkers.history.columns.versions import table
from tidemark.checkers.objects.transactions.dependencies import PROCESS, REALTIME, RW, WR, Graph

Step = tuple[int, int]
"""A node, and the kind of the dependency that leads to it."""

NO_MORE, APART, ANY = "no more", "apart", "any"
"""How many `rw` there may be besides the one that a search begins with: none, none that follow each other, any."""


class Cycle(NamedTuple):
    """Nodes in a circle, with the kind of the dependency from each to the next.

    Attributes:
        shortest: whether no cycle of its class in the component is shorter; False if nobody knows.
    """

    nodes: tuple[int, ...]
    kinds: tuple[int, ...]
    shortest: bool

    @property
    def name(self) -> str:
        """What it is called, by what it is made of."""
        kinds = self.kinds
        rws = kinds.count(RW)
        if rws > 1:
            adjacent = any(one == following == RW for one, following in zip(kinds, (*kinds[1:], kinds[0]), strict=True))
            name = "G2-item" if adjacent else "G-nonadjacent"
        else:
            name = "G-single" if rws else "G1c" if WR in kinds else "G0"
        return name + ("-realtime" if REALTIME in kinds else "-process" if PROCESS in kinds else "")


class Budget:
    """The steps that are left for all searches."""

    def __init__(self, steps: int) -> None:
        self.steps = steps


def shortest_cycle(
    graph: Graph, component: Iterable[int], beginning: int, rule: str, budget: Budget, *, surely: bool = True
) -> Cycle | None:
    """A shortest cycle among some nodes that has a dependency of the kind `beginning`, the first of several; None if there is none.

    At least one search is made, whatever it costs, if there `surely` is one; else None may mean that the steps did not suffice.
    """
    search = _Search(graph, component, rule)
    best: Cycle | None = None
    for source in search.sources(beginning):
        if budget.steps < 0 and (best or not surely):
            return best and best._replace(shortest=False)
        found = search.from_(source, beginning, len(best.nodes) if best else 0)
        budget.steps -= search.steps
        best = found or best
        if best and len(best.nodes) == 2:
            break
    return best


class _Search:
    def __init__(self, graph: Graph, component: Iterable[int], rule: str) -> None:
        self._transactions = len(graph.transaction)
        self._rule = rule
        self._out: dict[int, list[Step]] = {node: [] for node in component}
        self.steps = 0
        inside = table(graph.nodes, np.array(list(self._out), np.int64))
        kept = inside[graph.edges.tail] & inside[graph.edges.head]
        edges, kinds = graph.edges.where(kept), graph.kind[kept]
        for tail, head, kind in zip(edges.tail.tolist(), edges.head.tolist(), kinds.tolist(), strict=True):
            self._out[tail].append((head, kind))

    def sources(self, beginning: int) -> list[int]:
        """The transactions with a dependency of that kind, in their order."""
        return sorted(
            node
            for node, out in self._out.items()
            if node < self._transactions and any(kind == beginning for _, kind in out)
        )

    def from_(self, source: int, beginning: int, shorter_than: int) -> Cycle | None:
        """A shortest cycle that begins so, if it is shorter than that (0: however long)."""
        self.steps = 0
        came: dict[tuple[int, bool], tuple[tuple[int, bool], int] | None] = {}
        start = (source, False)
        waiting: deque[tuple[tuple[int, bool], int]] = deque()
        for head, kind in self._out[source]:
            if kind == beginning:
                self._reach((head, kind == RW), start, kind, 1, came, waiting)
        closed_by_rw = self._rule == ANY
        while waiting:
            state, length = waiting.popleft()
            node, after_rw = state
            if shorter_than and length >= shorter_than:
                return None
            for head, kind in self._out[node]:
                self.steps += 1
                if kind == RW and node < self._transactions and not self._may_follow(after_rw=after_rw):
                    continue
                if head == source:
                    if kind == RW and beginning == RW and not closed_by_rw:
                        continue
                    return self._back(came, state, kind, source)
                self._reach((head, kind == RW), state, kind, length, came, waiting)
        return None

    def _may_follow(self, *, after_rw: bool) -> bool:
        return self._rule == ANY or (self._rule == APART and not after_rw)

    def _reach(
        self,
        state: tuple[int, bool],
        before: tuple[int, bool],
        kind: int,
        length: int,
        came: dict[tuple[int, bool], tuple[tuple[int, bool], int] | None],
        waiting: deque[tuple[tuple[int, bool], int]],
    ) -> None:
        if self._rule != APART:
            state = (state[0], False)
        if state in came:
            return
        came[state] = (before, kind)
        if state[0] < self._transactions:
            waiting.append((state, length + 1))
        else:
            waiting.appendleft((state, length))

    def _back(
        self,
        came: dict[tuple[int, bool], tuple[tuple[int, bool], int] | None],
        state: tuple[int, bool],
        kind: int,
        source: int,
    ) -> Cycle:
        nodes, kinds = [source], [kind]
        at = state
        while at[0] != source:
            before, led = came[at] or ((source, False), kind)
            if at[0] < self._transactions:
                nodes.append(at[0])
                kinds.append(led)
            at = before
        nodes[1:] = nodes[:0:-1]
        kinds.reverse()
        return _simple(Cycle(tuple(nodes), tuple(kinds), shortest=True))


def _simple(cycle: Cycle) -> Cycle:
    """Of a walk that meets a transaction twice one of its two parts, the one with the graver name."""
    places: dict[int, int] = {}
    for again, node in enumerate(cycle.nodes):
        place = places.setdefault(node, again)
        if place != again:
            inner = cycle._replace(nodes=cycle.nodes[place:again], kinds=cycle.kinds[place:again])
            outer = cycle._replace(
                nodes=cycle.nodes[:place] + cycle.nodes[again:], kinds=cycle.kinds[:place] + cycle.kinds[again:]
            )
            return min((_simple(one) for one in (inner, outer)), key=lambda one: one.name)
    return cycle
