"""Which transaction came before which, as columns: a graph whose nodes are transactions, and hubs between them.

===========  ==============================================================================================================
`ww`         the first wrote a version of a key, the second a later one
`wr`         the second read what the first wrote
`rw`         the first read a version of a key, and the second wrote a later one, so that the first did not see it
`process`    one process did both, both are ok, and it did the first before the second
`realtime`   the first was over (ok) before the second began
===========  ==============================================================================================================

Where each of many comes before each of many others, pairs would be too many: there a *hub* stands between them. What leads into a
hub and out of it is one dependency.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.checkers.graphs.edges import Edges
from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.objects.transactions.columns import NEVER, Transactions

KINDS = ("ww", "wr", "rw", "process", "realtime")
WW, WR, RW, PROCESS, REALTIME = range(len(KINDS))


class Graph(NamedTuple):
    """Dependencies between some transactions.

    Attributes:
        transaction: the transactions by node. Nodes beyond are hubs, and moments.
        nodes: how many there are of all.
        edges: between nodes.
        kind: of each edge, one of `KINDS` by number. All edges of a hub are of one kind.
    """

    transaction: Ints
    nodes: int
    edges: Edges
    kind: Ints

    def of(self, *kinds: int) -> Graph:
        """With some kinds of edges only."""
        wanted = np.isin(self.kind, kinds)
        return self._replace(edges=self.edges.where(wanted), kind=self.kind[wanted])

    def among(self, chosen: Bits) -> Graph:
        """With some nodes only, which are numbered anew."""
        number = np.cumsum(chosen) - 1
        inside = chosen[self.edges.tail] & chosen[self.edges.head]
        edges = self.edges.where(inside)
        return Graph(
            self.transaction[chosen[: len(self.transaction)]],
            int(np.count_nonzero(chosen)),
            Edges(number[edges.tail], number[edges.head]),
            self.kind[inside],
        )


class GraphBuilder:
    """Takes dependencies of so many transactions; nothing comes before itself."""

    def __init__(self, transactions: int) -> None:
        self._transactions = transactions
        self._nodes = transactions
        self._parts: list[tuple[int, Ints, Ints]] = []

    def add(self, kind: int, tail: Ints, head: Ints) -> None:
        """A dependency from each of `tail` to the one of `head`."""
        apart = tail != head
        self._parts.append((kind, tail[apart], head[apart]))

    def fan(self, kind: int, source: Ints, source_group: Ints, target: Ints, target_group: Ints) -> None:
        """Dependencies from all sources of a group to all its targets, but for those that are both.

        Targets that are no source of their group are reached through one hub. A source that is a target as well reaches the others
        directly, where such sources are few; else over hubs for the binary digits of the targets' numbers, one for those with the
        digit 0 and one for 1, as every other number has some digit that is different.
        """
        n = self._transactions
        sources = np.unique(source_group * n + source)
        targets = np.unique(target_group * n + target)
        groups, start, size = np.unique(targets // n, return_index=True, return_counts=True)
        if not len(groups) or not len(sources):
            return
        place = np.minimum(np.searchsorted(groups, sources // n), len(groups) - 1)
        there = groups[place] == sources // n
        sources, place = sources[there], place[there]
        at = np.minimum(np.searchsorted(targets, sources), len(targets) - 1)
        both = targets[at] == sources
        alone = (size == 1)[place]
        self.add(kind, sources[alone] % n, targets[start[place[alone]]] % n)
        self._over_a_hub(kind, sources[~both & ~alone] % n, place[~both & ~alone], targets % n, start, size)
        inside = both & ~alone
        digits = np.frexp(size.astype(np.float64))[1]
        many = (np.bincount(place[inside], minlength=len(groups)) > digits)[place]
        few = inside & ~many
        self._pairs(kind, sources[few] % n, targets % n, start[place[few]], size[place[few]])
        for digit in range(int(digits.max(initial=0))):
            chosen = inside & many & (digit < digits[place])
            if not chosen.any():
                break
            number = at[chosen] - start[place[chosen]]
            of_group = np.repeat(np.arange(len(groups)), size)
            other = 2 * place[chosen] + (1 - (number >> digit & 1))
            has = 2 * of_group + ((np.arange(len(targets)) - start[of_group]) >> digit & 1)
            wanted = np.isin(has, other)
            hubs, into = np.unique(other, return_inverse=True)
            kept = np.searchsorted(hubs, has[wanted])
            self._hub_edges(kind, sources[chosen] % n, into, targets[wanted] % n, kept, len(hubs))

    def _over_a_hub(self, kind: int, source: Ints, place: Ints, target: Ints, start: Ints, size: Ints) -> None:
        hubs, into = np.unique(place, return_inverse=True)
        rows = _spread(start[hubs], size[hubs])
        out_of = np.repeat(np.arange(len(hubs)), size[hubs])
        self._hub_edges(kind, source, into, target[rows], out_of, len(hubs))

    def _hub_edges(self, kind: int, source: Ints, into: Ints, target: Ints, out_of: Ints, hubs: int) -> None:
        self._parts += [(kind, source, self._nodes + into), (kind, self._nodes + out_of, target)]
        self._nodes += hubs

    def _pairs(self, kind: int, source: Ints, target: Ints, start: Ints, size: Ints) -> None:
        self.add(kind, np.repeat(source, size), target[_spread(start, size)])

    def graph(self) -> Graph:
        """All that was added."""
        kinds = [np.full(len(tail), kind, np.int8) for kind, tail, _ in self._parts]
        tails = [tail for _, tail, _ in self._parts]
        heads = [head for _, _, head in self._parts]
        nothing = np.empty(0, np.int64)
        return Graph(
            np.arange(self._transactions),
            self._nodes,
            Edges(np.concatenate([nothing, *tails]), np.concatenate([nothing, *heads])),
            np.concatenate([nothing.astype(np.int8), *kinds]),
        )


def _spread(start: Ints, size: Ints) -> Ints:
    """The places ``start, start + 1, …`` of each, so many."""
    if not len(start):
        return np.empty(0, np.int64)
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(int(size.sum()))


def in_time(graph: Graph, found: Transactions, *, listed: bool) -> Graph:
    """The graph with what processes and time tell of its transactions besides.

    In real time a transaction comes before all that begin later: no pair is kept, but a line of moments, on which everybody who is
    over enters and everybody who begins leaves. Halves of one time are concurrent, unless they are `listed` in their order.
    """
    chosen = graph.transaction
    nodes = np.arange(len(chosen))
    ok = found.ok[chosen]
    begin, end = found.begin[chosen], found.end[chosen]
    order = np.lexsort((found.first_half[chosen], found.process[chosen]))
    order = order[ok[order]]
    process = found.process[chosen][order]
    same = process[1:] == process[:-1]
    parts = [(PROCESS, order[:-1][same], order[1:][same])]
    times = np.array([half.time for half in found.halves], np.int64)
    if listed or (len(times) and (times == times[0]).all()):
        times = np.arange(len(times))
    over, known = ok, begin != NEVER
    moments, entered = np.unique(times[end[over]], return_inverse=True)
    left = np.searchsorted(moments, times[begin[known]]) - 1
    late = left >= 0
    line = graph.nodes + np.arange(len(moments))
    parts += [
        (REALTIME, nodes[over], line[entered]),
        (REALTIME, line[:-1], line[1:]),
        (REALTIME, line[left[late]], nodes[known][late]),
    ]
    return Graph(
        chosen,
        graph.nodes + len(moments),
        Edges(
            np.concatenate([graph.edges.tail, *(tail for _, tail, _ in parts)]),
            np.concatenate([graph.edges.head, *(head for _, _, head in parts)]),
        ),
        np.concatenate([graph.kind, *(np.full(len(tail), kind, np.int8) for kind, tail, _ in parts)]),
    )
