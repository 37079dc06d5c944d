"""Which operation came before which.

===========  ==============================================================================================================
`ww`         both wrote to a key, the first at a smaller offset
`wr`         the first wrote a record that the second polled, however the second ended
`process`    one process did both, both are ok, and it did the first before the second
`realtime`   the first was over (ok) before the second began, however the second ended
===========  ==============================================================================================================

The graph is that of Jepsen's kafka workload (``jepsen.tests.kafka``: ``ww-graph``, ``wr-graph``) and of Elle (``elle.core``:
``process-graph``, ``realtime-graph``). Nothing comes before itself: who reads what it wrote is a `precommitted-read`. Left out is
what is not certain: a value that several operations sent (a client's own retry) has no writer; of the order of writes, offsets that
held several records, records at several offsets, and records that are lost are not spoken. An operation that never completed
may have happened; so it is written by, and nothing comes after it. The same holds for sends with acks=0. Without
an invocation nobody knows when an operation began, and nothing was over by then.

In real time, an operation comes before all that begin later: no pair is kept, but a line of moments (`Graph.edges`), on which
everybody who is over enters and everybody who begins leaves. So the graph is as long as the history, where Elle keeps pairs
with those that were over and that nobody followed yet. Halves of one time are concurrent, unless the history says that they are
listed in order, or nobody had a clock: all are of one time.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tidemark.checkers.clients.cycles.operations import NEVER, Operations
from tidemark.checkers.graphs.edges import Edges
from tidemark.checkers.history.columns.columns import FIRST_NUMBERED, Bits, Ints, Value
from tidemark.checkers.history.columns.versions import Versions, table

WW, WR, PROCESS, REALTIME = "ww", "wr", "process", "realtime"
Kinds = frozenset[str]
NOBODY = -1
"""The group of those that are in none."""


class Dependencies:
    """The dependencies of all operations.

    Args:
        operations: all of them.
        versions: the records.
        lost: the records, as ``(key, value)``, that are lost.
        listed: whether halves of one time happened in the order in which they are listed.
    """

    def __init__(
        self,
        operations: Operations,
        versions: Versions,
        lost: Collection[tuple[str, Value]] = (),
        *,
        listed: bool = False,
    ) -> None:
        self.operations = operations
        self.versions = versions
        self._lost = lost
        self._listed = listed

    @cached_property
    def writer(self) -> Ints:
        """By value: the operation that sent it; -1 if nobody did, or several did."""
        versions = self.versions
        rows = np.flatnonzero(versions.is_send)
        value, sender = versions.value[rows], self.operations.of_half[versions.half[rows]]
        writer = np.full(versions.values, -1, np.int64)
        writer[value] = sender
        several = value[writer[value] != sender]
        writer[several] = -1
        return writer

    @cached_property
    def writes(self) -> tuple[Ints, Ints]:
        """The writes in the order of their keys and offsets: who wrote, and the value. What is not certain is left out."""
        versions = self.versions
        uncertain = self.writer < 0
        for rows in (versions.repeated, versions.conflicting):
            if len(rows):
                uncertain[versions.value[rows]] = True
        if self._lost:
            uncertain |= self._lost_values()
        values = versions.value_at
        if uncertain.any():
            values = values[~uncertain[values]]
        return self.writer[values], values

    def _lost_values(self) -> Bits:
        """By value: it is lost."""
        versions, columns = self.versions, self.versions.columns
        others = {(value.__class__, value): FIRST_NUMBERED + place for place, value in enumerate(columns.values)}
        names = {name: number for number, name in enumerate(columns.keys)}
        numbers: dict[int, list[int]] = {}
        for key, value in self._lost:
            number = others.get((value.__class__, value), value)
            if key in names and isinstance(number, int):
                numbers.setdefault(names[key], []).append(number)
        row_value = columns.row_value[versions.rows]
        found = np.zeros(versions.values, np.bool_)
        for key_number, of_key in numbers.items():
            rows = np.flatnonzero(versions.key == key_number)
            found[versions.value[rows[np.isin(row_value[rows], of_key)]]] = True
        return found

    @cached_property
    def key_of(self) -> Ints:
        """By value: its key."""
        key = np.zeros(self.versions.values, np.int64)
        key[self.versions.value] = self.versions.key
        return key

    @cached_property
    def write_edges(self) -> Edges:
        """From each write of a key to the next, where another operation wrote that."""
        writer, value = self.writes
        key = self.key_of[value]
        edges = Edges(writer[:-1], writer[1:])
        return edges.where((key[1:] == key[:-1]) & (edges.tail != edges.head))

    @cached_property
    def reads(self) -> tuple[Edges, Ints]:
        """From who wrote a record to who polled it; and the row of the poll, among those of the versions."""
        versions = self.versions
        rows = np.flatnonzero(versions.is_read)
        readers = self.operations.of_half[versions.half[rows]].astype(np.int64)
        edges = Edges(self.writer[versions.value[rows]], readers)
        there = (edges.tail >= 0) & (edges.tail != edges.head)
        return edges.where(there), rows[there]

    def among(self, chosen: Ints) -> Graph:
        """The dependencies of some operations, given in ascending order."""
        operations, columns = self.operations, self.operations.columns
        number = np.full(len(operations), -1, np.int64)
        number[chosen] = np.arange(len(chosen))
        writer, value = self.writes
        kept = number[writer] >= 0
        edges, rows = self.reads
        inside = (number[edges.tail] >= 0) & (number[edges.head] >= 0)
        begin, end = operations.begin[chosen], operations.end[chosen]
        time = np.maximum.accumulate(columns.time)
        moments = np.arange(len(time))
        if not self._listed and len(time) and time[0] != time[-1]:
            moments = np.cumsum(np.diff(time, prepend=time[0]) > 0)
        over = operations.over[chosen]
        return Graph(
            operation=chosen,
            first=operations.first[chosen],
            process=operations.process[chosen],
            ok=over,
            began=np.where(begin == NEVER, NEVER, moments[begin]),
            ended=np.where(over, moments[end], NEVER),
            write=number[writer[kept]],
            write_key=self.key_of[value[kept]],
            write_value=value[kept],
            read=Edges(number[edges.tail[inside]], number[edges.head[inside]]),
            read_row=rows[inside],
        )


class Graph(NamedTuple):
    """The dependencies of some operations, which are numbered anew.

    Attributes:
        operation: their numbers among all.
        first: the half of the history with which each begins.
        process, ok: whose it is, and whether it is over.
        began, ended: moments, numbered from 0, `NEVER` where it is not known.
        write, write_key, write_value: the writes in the order of keys and offsets: operation, key, id of the value.
        read, read_row: from writers to readers, and where in the versions.
    """

    operation: Ints
    first: Ints
    process: Ints
    ok: Bits
    began: Ints
    ended: Ints
    write: Ints
    write_key: Ints
    write_value: Ints
    read: Edges
    read_row: Ints

    def edges(self, kinds: Kinds, groups: Ints) -> tuple[Edges, int]:
        """Edges inside groups of operations, so that whoever came before another of its group reaches it; and how many nodes that
        takes. Nodes beyond the operations are moments.

        Args:
            kinds: of which dependencies.
            groups: the group of each operation, or `NOBODY`.
        """
        found = []
        nodes = len(self.operation)
        if WW in kinds:
            key = self.write_key * (int(groups.max(initial=0)) + 1) + groups[self.write]
            found.append(_in_line(self.write, np.where(groups[self.write] == NOBODY, NOBODY, key)))
        if WR in kinds:
            of_both = groups[self.read.tail]
            found.append(self.read.where((of_both != NOBODY) & (of_both == groups[self.read.head])))
        if PROCESS in kinds:
            whose = self.process * (int(groups.max(initial=0)) + 1) + groups
            found.append(_in_line(np.arange(nodes), np.where(self.ok & (groups != NOBODY), whose, NOBODY)))
        if REALTIME in kinds:
            ended = np.flatnonzero((groups != NOBODY) & (self.ended != NEVER))
            began = np.flatnonzero((groups != NOBODY) & (self.began != NEVER))
            times = 1 + int(max(self.ended.max(initial=0), self.began.max(initial=0)))
            moments, entered = np.unique(groups[ended] * times + self.ended[ended], return_inverse=True)
            left = np.searchsorted(moments, groups[began] * times + self.began[began]) - 1
            late = left >= 0
            late[late] = moments[left[late]] // times == groups[began[late]]
            line = nodes + np.arange(len(moments))
            found += [
                Edges(ended, nodes + entered),
                Edges(line[:-1], line[1:]).where(moments[1:] // times == moments[:-1] // times),
                Edges(nodes + left[late], began[late]),
            ]
            nodes += len(moments)
        return Edges(*map(np.concatenate, zip(*found, strict=True))), nodes

    def within(self, operations: Ints) -> Bits:
        """True at these operations."""
        return table(len(self.operation), operations)


def _in_line(nodes: Ints, line: Ints) -> Edges:
    """From each node to the next of its line; those of the line `NOBODY` are on none."""
    order = np.argsort(line, kind="stable")
    order = order[np.searchsorted(line[order], 0) :]
    nodes, line = nodes[order], line[order]
    return Edges(nodes[:-1], nodes[1:]).where((line[1:] == line[:-1]) & (nodes[1:] != nodes[:-1]))
