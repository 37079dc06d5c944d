"""The transactions that may lie on a cycle: a look by whole columns that sets aside nearly all of a history that has none.

As for logs (`tidemark.checkers.clients.cycles.suspects`, with the reasons): each transaction gets as its *colour* the latest
beginning among those that come before it, its own included; on a cycle all of it has one. Here hubs hand colours on, and have no
beginning.
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.graphs.edges import ROUNDS, on_both_sides
from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.objects.transactions.columns import NEVER, Transactions
from tidemark.checkers.objects.transactions.dependencies import Graph

_ALWAYS = np.iinfo(np.int64).max


def suspects(graph: Graph, found: Transactions) -> Bits:
    """By node: whether it may lie on a cycle of dependencies, of processes and time too."""
    count = len(found)
    edges = graph.edges
    colour = np.full(graph.nodes, NEVER, np.int64)
    colour[:count] = found.first_half
    due = np.full(graph.nodes, _ALWAYS)
    due[:count][found.ok] = found.end[found.ok]
    begin = _begin(found)
    late = np.zeros(graph.nodes, np.bool_)
    for _ in range(ROUNDS):
        before = colour.copy()
        np.maximum.at(colour, edges.head, before[edges.tail])
        late = colour > due
        if late.any():
            _spread_in_time(colour, found, begin)
        if (colour == before).all():
            break
    else:
        return np.ones(graph.nodes, np.bool_)
    suspect = on_both_sides(edges.where(colour[edges.tail] == colour[edges.head]), graph.nodes)
    if late.any():
        suspect |= np.isin(colour, colour[late])
    return suspect


def _begin(found: Transactions) -> Ints:
    """The last half that was before each began: without an invocation, that of its process before it; `NEVER` if there is none."""
    begin = found.begin.copy()
    order = np.lexsort((found.first_half, found.process))
    unknown = np.flatnonzero(begin[order] == NEVER)
    unknown = unknown[unknown > 0]
    mine, before = order[unknown], order[unknown - 1]
    same = found.process[mine] == found.process[before]
    begin[mine[same]] = np.maximum(found.begin, found.end)[before[same]]
    return begin


def _spread_in_time(colour: Ints, found: Transactions, begin: Ints) -> None:
    """Gives each transaction the latest colour of those that were over before it began."""
    line = np.full(len(found.halves), NEVER, np.int64)
    line[found.end[found.ok]] = colour[: len(found)][found.ok]
    np.maximum.accumulate(line, out=line)
    known = np.flatnonzero(begin != NEVER)
    colour[known] = np.maximum(colour[known], line[begin[known]])
