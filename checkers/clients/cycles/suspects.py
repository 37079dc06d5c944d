"""The operations that may lie on a cycle: a quick look that sets aside nearly all of a history that has none.

Each operation gets as its *colour* the latest beginning among those that come before it, its own included. On a cycle everything
comes before everything, so all of it has one colour. Colours spread along dependencies: along all writes of a key, and along all
that is over, by one running maximum, so that few rounds are enough. An operation whose colour is no later than its own end is
punctual: what begins after it has a later colour, so no cycle leaves it by `process` or `realtime`. Where all are, only `ww` and
`wr` between operations of one colour are left, and of these who has none before or none after falls away, and so on.

Numbers of halves stand for moments here: they order more than times do, never less, so that nothing is overlooked.
After `ROUNDS` rounds whatever is not decided stays suspect.

The idea is the colouring of S. M. Orzan, On Distributed Verification and Verified Distribution (2004).
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.clients.cycles.dependencies import Dependencies
from tidemark.checkers.clients.cycles.operations import NEVER, Operations
from tidemark.checkers.graphs.edges import ROUNDS, Edges, on_both_sides
from tidemark.checkers.history.columns.columns import Ints

_ALWAYS = np.iinfo(np.int64).max


def suspects(dependencies: Dependencies) -> Ints:
    """The operations that may lie on a cycle, in ascending order; those of all cycles are among them."""
    operations = dependencies.operations
    writes = _Writes(dependencies)
    reads, _ = dependencies.reads
    if not len(writes.writer):
        return np.empty(0, np.int64)
    begin = _begin(operations)
    due = np.where(operations.over, operations.end, _ALWAYS)
    colour = operations.first
    for _ in range(ROUNDS):
        before = colour.copy()
        np.maximum.at(colour, writes.writer, writes.spread(colour))
        np.maximum.at(colour, reads.head, colour[reads.tail])
        late = colour > due
        if late.any():
            _spread_in_time(colour, operations, begin)
        if (colour == before).all():
            break
    else:
        return np.flatnonzero(operations.with_records)
    edges = Edges(*map(np.concatenate, zip(dependencies.write_edges, reads, strict=True)))
    found = on_both_sides(edges.where(colour[edges.tail] == colour[edges.head]), len(operations))
    if late.any():
        found |= np.isin(colour, colour[late])
    return np.flatnonzero(found & operations.with_records)


class _Writes:
    """The writes, to spread colours along them.

    Attributes:
        writer: of each write, in the order of keys and offsets.
    """

    def __init__(self, dependencies: Dependencies) -> None:
        self.writer, value = dependencies.writes
        key = dependencies.key_of[value]
        self._shift = key * len(dependencies.operations.columns)

    def spread(self, colour: Ints) -> Ints:
        """By write: the latest colour of it and of all before it in its key."""
        spread: Ints = np.maximum.accumulate(colour[self.writer] + self._shift) - self._shift
        return spread


def _begin(operations: Operations) -> Ints:
    """The last half that was before each began: without an invocation, that of its process before it; `NEVER` if there is none."""
    begin = operations.begin.copy()
    unknown = np.flatnonzero(begin == NEVER)
    before = operations.last[unknown - 1]
    same = (unknown > 0) & (operations.process[unknown] == operations.process[unknown - 1])
    begin[unknown] = np.where(same, before, NEVER)
    return begin


def _spread_in_time(colour: Ints, operations: Operations, begin: Ints) -> None:
    """Gives each operation the latest colour of those that were over before it began."""
    line = np.full(len(operations.columns), -1, np.int64)
    over = np.flatnonzero(operations.over)
    line[operations.end[over]] = colour[over]
    np.maximum.accumulate(line, out=line)
    known = begin != NEVER
    colour[known] = np.maximum(colour[known], line[begin[known]])
