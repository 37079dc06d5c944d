"""The groups of operations in which everything comes before everything."""

from __future__ import annotations

import numpy as np

from tidemark.checkers.clients.cycles.dependencies import Graph, Kinds
from tidemark.checkers.graphs.connected import connected
from tidemark.checkers.history.columns.columns import Ints


def components(graph: Graph, kinds: Kinds, groups: Ints) -> list[Ints]:
    """The components, of two operations and more, inside groups of operations, by some kinds of dependencies.

    Each is in ascending order of beginnings, and so are they by their first operations.
    """
    edges, nodes = graph.edges(kinds, groups)
    found = []
    for component in connected(edges, nodes):
        operations = np.array([node for node in component if node < len(graph.operation)])
        found.append(operations[np.argsort(graph.first[operations], kind="stable")])
    return sorted(found, key=lambda operations: int(graph.first[operations[0]]))
