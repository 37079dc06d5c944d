"""Strongly connected components: the groups of nodes in which each is reached from each.

Source: R. Tarjan, Depth-First Search and Linear Graph Algorithms (1972); here without recursion, after whatever lies on no cycle
for reasons that are easy to see is gone.
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.graphs.edges import Edges, on_both_sides


def connected(edges: Edges, nodes: int) -> list[list[int]]:
    """The components of two nodes and more."""
    kept = np.flatnonzero(on_both_sides(edges, nodes))
    if not len(kept):
        return []
    number = np.full(nodes, -1, np.int64)
    number[kept] = np.arange(len(kept))
    tail, head = number[edges.tail], number[edges.head]
    inside = (tail >= 0) & (head >= 0)
    tail, head = tail[inside], head[inside]
    order = np.argsort(tail, kind="stable")
    start = np.searchsorted(tail[order], np.arange(len(kept) + 1)).tolist()
    names = kept.tolist()
    return [[names[node] for node in component] for component in _tarjan(start, head[order].tolist())]


def _tarjan(start: list[int], heads: list[int]) -> list[list[int]]:
    """Of nodes whose edges lead to ``heads[start[node]:start[node + 1]]``."""
    count = len(start) - 1
    done = count + 1
    index = [0] * count
    low = [0] * count
    following = start[:-1]
    stack: list[int] = []
    found: list[list[int]] = []
    reached = 0
    for root in range(count):
        if index[root]:
            continue
        path = [root]
        while path:
            node = path[-1]
            if not index[node]:
                reached += 1
                index[node] = low[node] = reached
                stack.append(node)
            lowest, place, end = low[node], following[node], start[node + 1]
            while place < end:
                head = heads[place]
                place += 1
                if not index[head]:
                    path.append(head)
                    break
                lowest = min(lowest, low[head])
            low[node], following[node] = lowest, place
            if path[-1] != node:
                following[node] = place - 1
                continue
            path.pop()
            if lowest == index[node]:
                component = []
                while True:
                    member = stack.pop()
                    low[member] = done
                    component.append(member)
                    if member == node:
                        break
                if len(component) > 1:
                    found.append(component)
    return found
