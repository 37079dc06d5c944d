"""The shortest cycle in a component.

Here `ww`, `process` and `realtime` lead from an operation to *all* that come after it, not to the next alone: a cycle then has no
operation that only hands on. From each operation it is searched breadth-first, no deeper than what is known already, and
each search visits a write, a read, an operation once at most. A search costs as much as the component has of them, so all searches
of a large component are too many: beyond a number of steps the shortest cycle so far is told. Steps are counted, and no
clock is asked, so a history has the same cycle everywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tidemark.checkers.clients.cycles.dependencies import PROCESS, REALTIME, WR, WW, Graph, Kinds
from tidemark.checkers.clients.cycles.operations import NEVER
from tidemark.checkers.history.columns.columns import Ints

_ORDER = (WW, WR, PROCESS, REALTIME)


class Edge(NamedTuple):
    """`tail` came before `head`; the numbers of a graph's operations."""

    tail: int
    head: int
    kind: str


class Cycle(NamedTuple):
    """Edges in a circle; `shortest` is whether no cycle of the component is shorter, False if nobody knows."""

    edges: tuple[Edge, ...]
    shortest: bool


@dataclass
class Budget:
    """The steps that are left for all searches."""

    steps: int


def shortest_cycle(graph: Graph, component: Ints, kinds: Kinds, budget: Budget) -> Cycle:
    """A shortest cycle by some kinds of dependencies of a component of them; the first in the order of the history, of several.

    At least one search is made, whatever it costs.
    """
    search = _Search(graph, component, kinds)
    best: tuple[Edge, ...] = ()
    for source in component.tolist():
        if best and budget.steps < 0:
            return Cycle(best, shortest=False)
        best = search.from_(source, len(best)) or best
        budget.steps -= search.steps
        if len(best) == 2:
            break
    return Cycle(best, shortest=True)


class _Line:
    """Who comes after a place on a line: the writes of a key, what a process did, what began.

    A search visits each place at most once: `free` is where those begin that it has been to.
    """

    __slots__ = ("free", "operations")

    def __init__(self, operations: list[int]) -> None:
        self.operations = operations
        self.free = len(operations)

    def after(self, place: int) -> list[int]:
        """The operations from a place on that were not given out yet."""
        found = self.operations[place : self.free]
        self.free = min(self.free, place)
        return found


class _Search:
    """Searches from operations of one component.

    Attributes:
        steps: what the last search cost.
    """

    def __init__(self, graph: Graph, component: Ints, kinds: Kinds) -> None:
        self.steps = 0
        inside = graph.within(component)
        self._lines: list[_Line] = []
        self._places: dict[int, list[tuple[str, _Line, int, int]]] = {one: [] for one in component.tolist()}
        """By operation: the lines that it is on, the place after its first there, and its last."""
        self._readers: dict[int, list[int]] = {}
        if WW in kinds:
            kept = np.flatnonzero(inside[graph.write])
            for part in np.split(kept, np.flatnonzero(np.diff(graph.write_key[kept])) + 1):
                self._line(WW, graph.write[part].tolist())
        if WR in kinds:
            edges = graph.read.where(inside[graph.read.tail] & inside[graph.read.head])
            for tail, head in zip(edges.tail.tolist(), edges.head.tolist(), strict=True):
                self._readers.setdefault(tail, []).append(head)
        if PROCESS in kinds:
            kept = np.flatnonzero(inside & graph.ok)
            for part in np.split(kept, np.flatnonzero(np.diff(graph.process[kept])) + 1):
                self._line(PROCESS, part.tolist())
        if REALTIME in kinds:
            self._in_time(graph, inside.nonzero()[0])

    def _line(self, kind: str, operations: list[int]) -> None:
        line = _Line(operations)
        self._lines.append(line)
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, operation in enumerate(operations):
            first.setdefault(operation, place)
            last[operation] = place
        for operation, place in first.items():
            self._places[operation].append((kind, line, place + 1, last[operation]))

    def _in_time(self, graph: Graph, component: Ints) -> None:
        began = component[graph.began[component] != NEVER]
        began = began[np.argsort(graph.began[began], kind="stable")]
        moments = graph.began[began].tolist()
        line = _Line(began.tolist())
        self._lines.append(line)
        place_of = {operation: place for place, operation in enumerate(line.operations)}
        for operation, ended in zip(component.tolist(), graph.ended[component].tolist(), strict=True):
            after = len(moments) if ended == NEVER else bisect_right(moments, ended)
            self._places[operation].append((REALTIME, line, after, place_of.get(operation, -1)))

    def from_(self, source: int, shorter_than: int) -> tuple[Edge, ...]:
        """A shortest cycle through an operation, if it is shorter than that (0: however long)."""
        self.steps = 0
        for line in self._lines:
            line.free = len(line.operations)
        goal = {line: last for _, line, _, last in self._places[source]}
        came: dict[int, Edge] = {}
        level = [source]
        length = 1
        while level and (length < shorter_than - 1 or not shorter_than):
            length += 1
            following = []
            for operation in level:
                for edge in self._from(operation):
                    self.steps += 1
                    if edge.head in came or edge.head == source:
                        continue
                    came[edge.head] = edge
                    closing = self._closing(edge.head, source, goal)
                    if closing is not None:
                        return _back(came, closing)
                    following.append(edge.head)
            level = following
        return ()

    def _from(self, operation: int) -> Iterator[Edge]:
        """All that comes after an operation and was not reached yet, what records tell before what time tells."""
        places = self._places[operation]
        for kind, line, place, _ in places:
            if kind == WW:
                yield from (Edge(operation, head, WW) for head in line.after(place))
        yield from (Edge(operation, head, WR) for head in self._readers.get(operation, ()))
        for kind, line, place, _ in places:
            if kind != WW:
                yield from (Edge(operation, head, kind) for head in line.after(place))

    def _closing(self, operation: int, source: int, goal: dict[_Line, int]) -> Edge | None:
        """The edge from an operation to the source, if there is one."""
        kinds = [kind for kind, line, place, _ in self._places[operation] if place <= goal.get(line, -1)]
        if source in self._readers.get(operation, ()):
            kinds.append(WR)
        return Edge(operation, source, min(kinds, key=_ORDER.index)) if kinds else None


def _back(came: dict[int, Edge], closing: Edge) -> tuple[Edge, ...]:
    found = [closing]
    while found[-1].tail in came:
        found.append(came[found[-1].tail])
    return tuple(reversed(found))
