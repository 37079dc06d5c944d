"""The cycles of a graph of transactions, by what they are made of, and the shortest of each.

=================  ==========================================================================
`G0`               `ww` only
`G1c`              `ww` and `wr`
`G-single`         these and one `rw`
`G-nonadjacent`    these and several `rw`, no two of which follow each other
`G2-item`          these and any `rw`
``…-process``      `process` besides
``…-realtime``     `realtime` (and `process`) besides
=================  ==========================================================================

Whether there are any is seen in linear time, from strongly connected components: for `G-nonadjacent` of a graph in which every
transaction is twice, once for those who came over an `rw`, and may not leave by one. Which is the shortest, and whether it is a
`G-single`, is searched for in a bounded number of steps. A component in which a graver anomaly was told, of which this one is only
a weaker form (`tidemark.checkers.objects.transactions.consistency.IS_ALSO`), is not told again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.checkers.graphs.connected import connected
from tidemark.checkers.graphs.edges import Edges
from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.objects.transactions.columns import Transactions
from tidemark.checkers.objects.transactions.consistency import CYCLES, SUFFIXES, also
from tidemark.checkers.objects.transactions.dependencies import PROCESS, REALTIME, RW, WR, WW, Graph, in_time
from tidemark.checkers.objects.transactions.search import ANY, APART, NO_MORE, Budget, Cycle, shortest_cycle
from tidemark.checkers.objects.transactions.suspects import suspects

MOST_TOLD = 20
"""So many cycles of one name are told one by one."""
STEPS = 2_000_000

_MORE = {"": (), "-process": (PROCESS,), "-realtime": (PROCESS, REALTIME)}
_DATA = {"G0": (WW,), "G1c": (WW, WR)}


class Found(NamedTuple):
    """A component with cycles of some name, and the shortest cycle that was found, as transactions.

    Attributes:
        size: how many transactions the component has.
        cycle: None if it is one of many, and was not looked for.
    """

    name: str
    size: int
    cycle: Cycle | None


def cycles(graph: Graph, found: Transactions, *, listed: bool) -> list[Found]:
    """All of them, the gravest names first."""
    graph = graph.among(suspects(graph, found))
    if not len(graph.transaction):
        return []
    timed = in_time(graph, found, listed=listed)
    chosen = np.zeros(timed.nodes, np.bool_)
    for component in connected(timed.edges, timed.nodes):
        chosen[component] = True
    if not chosen.any():
        return []
    timed = timed.among(chosen)
    told = _Told(timed)
    for suffix in SUFFIXES:
        for name in CYCLES:
            told.look_for(name, suffix)
    return told.found


class _Told:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._count = len(graph.transaction)
        self._where: dict[str, Bits] = {}
        self._budget = Budget(STEPS)
        self.found: list[Found] = []

    def look_for(self, name: str, suffix: str) -> None:
        """The components with cycles of a class in which nothing was told that is one as well."""
        kinds = (*_DATA.get(name, (WW, WR, RW)), *_MORE[suffix])
        graph = self._graph.of(*kinds)
        beginning = kinds[1] if name == "G1c" else RW if RW in kinds else WW
        inner = self._apart(graph) if name in ("G-single", "G-nonadjacent") else graph
        covered = self._covered(name + suffix)
        found: list[tuple[Ints, Cycle | None]] = []
        for part in _with_edge(inner, beginning, graph.nodes):
            transactions = part[part < self._count]
            if covered[transactions].any():
                continue
            cycle = self._cycle(graph, part, name, beginning) if len(found) < MOST_TOLD else None
            found.append((transactions, cycle))
        for transactions, cycle in found:
            if cycle is not None or name != "G-single":
                self._tell(cycle.name if cycle else name + suffix, transactions, cycle)

    def _cycle(self, graph: Graph, part: Ints, name: str, beginning: int) -> Cycle | None:
        rule = {"G-nonadjacent": APART, "G2-item": ANY}.get(name, NO_MORE)
        surely = name != "G-single"
        return shortest_cycle(graph, part.tolist(), beginning, rule, self._budget, surely=surely)

    def _tell(self, name: str, transactions: Ints, cycle: Cycle | None) -> None:
        self._where.setdefault(name, np.zeros(self._count, np.bool_))[transactions] = True
        if cycle is not None:
            numbers = self._graph.transaction[list(cycle.nodes)].tolist()
            cycle = cycle._replace(nodes=tuple(numbers))
        self.found.append(Found(name, len(transactions), cycle))

    def _covered(self, name: str) -> Bits:
        """By transaction: something was told of it that is this as well."""
        covered = np.zeros(self._count, np.bool_)
        for other, where in self._where.items():
            if name in also(other):
                covered |= where
        return covered

    def _apart(self, graph: Graph) -> Graph:
        """The graph in which every transaction is twice, so that no walk has two `rw` that follow each other."""
        nodes, count = graph.nodes, self._count
        second = np.arange(nodes)
        second[:count] = nodes + np.arange(count)
        tail, head = graph.edges
        rw = graph.kind == RW
        again = ~rw & (tail < count)
        edges = Edges(
            np.concatenate((tail, second[tail[again]])),
            np.concatenate((np.where(rw, second[head], head), head[again])),
        )
        return graph._replace(nodes=nodes + count, edges=edges, kind=np.concatenate((graph.kind, graph.kind[again])))


def _with_edge(graph: Graph, kind: int, nodes: int) -> list[Ints]:
    """The components that have an edge of a kind inside, by their first transactions; hubs and moments come last. What lies beyond
    `nodes` are transactions for the second time.
    """
    parts = connected(graph.edges, graph.nodes)
    group = np.full(graph.nodes, -1, np.int64)
    for number, part in enumerate(parts):
        group[part] = number
    edges = graph.edges.where(graph.kind == kind)
    inside = group[edges.tail]
    inside = inside[(inside >= 0) & (inside == group[edges.head])]
    found = [np.unique(np.array(parts[number]) % nodes) for number in np.unique(inside).tolist()]
    return sorted(found, key=lambda part: int(part[0]))
