"""Edges between numbered nodes, and which nodes have edges on both sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.history.columns.versions import table

ROUNDS = 64


class Edges(NamedTuple):
    """Edges between numbered nodes."""

    tail: Ints
    head: Ints

    def where(self, wanted: Bits) -> Edges:
        """Some of them."""
        return Edges(self.tail[wanted], self.head[wanted])


def on_both_sides(edges: Edges, nodes: int) -> Bits:
    """The nodes that have something before and something after them, once those that have not are gone, and so on for a while."""
    found = np.zeros(nodes, np.bool_)
    for _ in range(ROUNDS):
        if not len(edges.tail):
            return found
        both = table(nodes, edges.tail) & table(nodes, edges.head)
        kept = both[edges.tail] & both[edges.head]
        if kept.all():
            break
        edges = edges.where(kept)
    found[edges.tail] = found[edges.head] = True
    return found
