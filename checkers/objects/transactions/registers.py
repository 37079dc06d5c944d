"""Registers that are written and read: of the order of a key's versions only some is known.

Inferred is, for each key: that it was nil first; that what a transaction wrote came after what it had read of the key before; and,
where somebody says that every key by itself is *sequential* or *linearizable*, that versions follow each other as the transactions
of one process do, or those of which one was over before the other began. Where that contradicts itself, or the rest, the versions
are cyclic, and what was said is not used for that key. Of a key to which a value was written twice nothing is inferred.

That writes follow reads is no assumption (Elle has an option for it): were the version that a transaction read the later one, it
would have read what came after its own write, which is `G1c`. As ``rw`` it therefore counts against those models only that forbid
`G1c` too, and as ``ww`` it tells no more than the ``wr`` that is there. Source: ``elle.rw-register``.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tidemark.checkers.graphs.connected import connected
from tidemark.checkers.graphs.edges import Edges
from tidemark.checkers.history.columns.columns import Ints
from tidemark.checkers.objects.transactions.columns import NEVER, NIL, Transactions
from tidemark.checkers.objects.transactions.dependencies import RW, WR, WW, Graph, GraphBuilder
from tidemark.checkers.objects.transactions.writers import Sight, Writers

SEQUENTIAL, LINEARIZABLE = "sequential", "linearizable"
NO_READER = -1


class Registers:
    """The versions of registers. The version of a key that nobody has written yet stands behind all others, as ``nil(key)``.

    Attributes:
        pairs: by name of what was said of keys: which version came before which.
    """

    def __init__(self, found: Transactions, keys_are: Collection[str] = (), *, listed: bool = False) -> None:
        self.found = found
        self.writers = Writers(found)
        self._versions = len(found.version_key)
        self.read = np.where(found.starts == NIL, self._versions + found.read_key, found.starts)
        """By row of reads: the version."""
        self._key = np.concatenate((found.version_key, np.arange(len(found.keys))))
        self._cyclic: list[Sight] = []
        first = np.flatnonzero(found.first & ~self.writers.doubtful[found.read_key])
        self._first = first
        final = np.flatnonzero(found.is_final & self.writers.there[found.wrote])
        self._final = final
        self.follows = self._writes_follow_reads()
        self.pairs: dict[str, Edges] = {}
        touched = _Touched(self) if keys_are else None
        for name in (SEQUENTIAL, LINEARIZABLE):
            if touched is not None and name in keys_are:
                pairs = touched.in_processes() if name == SEQUENTIAL else touched.in_time(listed=listed)
                self.pairs[name] = self._without_cycles(pairs)

    def _writes_follow_reads(self) -> Edges:
        """From the version that a transaction read first to the one that it wrote last, of one key."""
        found = self.found
        row = found.updates[~self.writers.doubtful[found.read_key[found.updates]]]
        n = max(1, len(found.keys))
        wrote = found.wrote[self._final]
        name = found.write_of[self._final] * n + found.version_key[wrote]
        order = np.argsort(name)
        at = np.searchsorted(name[order], found.read_of[row] * n + found.read_key[row])
        at = np.minimum(at, max(0, len(order) - 1))
        if not len(order):
            return Edges(row[:0], row[:0])
        there = name[order[at]] == found.read_of[row] * n + found.read_key[row]
        return Edges(self.read[row[there]], wrote[order[at[there]]])

    def _nil_first(self) -> Edges:
        """From the nil of each key to its versions."""
        versions = np.flatnonzero(~self.writers.doubtful[self.found.version_key])
        return Edges(self._versions + self._key[versions], versions)

    def _without_cycles(self, pairs: Edges) -> Edges:
        """The pairs of those keys whose versions they put into an order; of the others a cycle is noted."""
        all_ = [self._nil_first(), self.follows, *self.pairs.values(), pairs]
        edges = Edges(*(np.concatenate(parts) for parts in zip(*all_, strict=True)))
        bad = set()
        for component in connected(edges, len(self._key)):
            key = int(self._key[component[0]])
            if key not in bad:
                bad.add(key)
                shown = sorted(component)
                self._cyclic.append(Sight("cyclic-versions", shown[0], NO_READER, len(shown), tuple(shown[:8])))
        return pairs.where(~np.isin(self._key[pairs.tail], list(bad)))

    def sights(self) -> list[Sight]:
        """What is wrong with what was read."""
        rows = np.flatnonzero(self.found.starts != NIL)
        version = self.found.starts[rows]
        return [
            *self.writers.seen(version, rows),
            *self.writers.halfway(version, rows),
            *self.writers.lost_updates(self.read[self.found.updates]),
            *self._cyclic,
        ]

    def graph(self) -> Graph:
        """The dependencies that reads and writes tell."""
        found, writers = self.found, self.writers
        builder = GraphBuilder(len(found))
        row = self._first
        known = np.flatnonzero(found.starts[row] != NIL)
        known = known[writers.there[found.starts[row[known]]]]
        builder.add(WR, writers.writer[found.starts[row[known]]], found.read_of[row[known]])
        there = np.concatenate((writers.there, np.zeros(len(found.keys), np.bool_)))
        told = [pairs.where(there[pairs.head]) for pairs in self.pairs.values()]
        for pairs in told:
            written = pairs.where(there[pairs.tail])
            builder.add(WW, writers.writer[written.tail], writers.writer[written.head])
        final = self._final
        nil = Edges(self._versions + found.version_key[found.wrote[final]], found.wrote[final])
        edges = [nil, self.follows, *told]
        after = Edges(np.concatenate([one.tail for one in edges]), np.concatenate([one.head for one in edges]))
        builder.fan(RW, found.read_of[row], self.read[row], writers.writer[after.head], after.tail)
        return builder.graph()


class _Touched:
    """What each transaction that may have happened did to each key, seen from outside: the first version and the last.

    Attributes:
        transaction, key: of each pair of them.
        first, last: the version that was read first, or else written; the version that was written last, or else read.
    """

    def __init__(self, registers: Registers) -> None:
        found = registers.found
        self._found = found
        n = max(1, len(found.keys))
        final, first = registers._final, registers._first  # noqa: SLF001 - a part of it
        wrote, write_of = found.wrote[final], found.write_of[final]
        written = write_of * n + found.version_key[wrote]
        read = found.read_of[first] * n + found.read_key[first]
        names = np.union1d(written, read)
        self.transaction, self.key = names // n, names % n
        self.first = np.full(len(names), NEVER, np.int64)
        self.last = self.first.copy()
        at_write, at_read = np.searchsorted(names, written), np.searchsorted(names, read)
        self.last[at_read] = registers.read[first]
        self.first[at_write] = wrote
        self.last[at_write] = wrote
        self.first[at_read] = registers.read[first]

    def in_processes(self) -> Edges:
        """From the last version of one to the first of the next that its process did with the key."""
        found = self._found
        process = found.process[self.transaction]
        order = np.lexsort((found.first_half[self.transaction], self.key, process))
        order = order[found.ok[self.transaction[order]]]
        same = (process[order[1:]] == process[order[:-1]]) & (self.key[order[1:]] == self.key[order[:-1]])
        edges = Edges(self.last[order[:-1][same]], self.first[order[1:][same]])
        return edges.where(edges.tail != edges.head)

    def in_time(self, *, listed: bool) -> Edges:
        """From versions to those that came next: a version came before another if a transaction that had it last was over before
        one that had the other first began. Between some, that follow from these, no pair is kept.
        """
        found = self._found
        times = np.array([half.time for half in found.halves], np.int64)
        if listed or (len(times) and (times == times[0]).all()):
            times = np.arange(len(times))
        never = np.iinfo(np.int64).max
        versions = len(found.version_key) + len(found.keys)
        ended = np.full(versions, never)
        over = found.ok[self.transaction]
        np.minimum.at(ended, self.last[over], times[found.end[self.transaction[over]]])
        begun = np.full(versions, -1, np.int64)
        known = found.begin[self.transaction] != NEVER
        np.maximum.at(begun, self.first[known], times[found.begin[self.transaction[known]]])
        tails: list[int] = []
        heads: list[int] = []
        version_key = np.concatenate((found.version_key, np.arange(len(found.keys))))
        there = np.zeros(versions, np.bool_)
        there[self.first] = there[self.last] = True
        chosen = np.flatnonzero(there)
        chosen = chosen[np.argsort(version_key[chosen], kind="stable")]
        for part in np.split(chosen, np.flatnonzero(np.diff(version_key[chosen])) + 1):
            _next_in_time(part, ended[part], begun[part], never, tails, heads)
        return Edges(np.array(tails, np.int64), np.array(heads, np.int64))


def _next_in_time(part: Ints, ended: Ints, begun: Ints, never: int, tails: list[int], heads: list[int]) -> None:
    """The pairs of one key: of each version those that began after it had ended, up to when the soonest of them, begun and ended,
    was over; the rest came after that one.
    """
    order = np.argsort(begun, kind="stable")
    starts, ends, versions = begun[order], ended[order].tolist(), part[order].tolist()
    soonest: list[tuple[int, ...]] = [()] * (len(versions) + 1)
    for place in range(len(versions) - 1, -1, -1):
        soonest[place] = tuple(sorted([*soonest[place + 1], place], key=ends.__getitem__)[:2])
    for mine, version in enumerate(versions):
        if ends[mine] == never:
            continue
        at = int(np.searchsorted(starts, ends[mine], side="right"))
        other = next((place for place in soonest[at] if place != mine), None)
        if other is None:
            continue
        last = int(np.searchsorted(starts, ends[other], side="right"))
        for place in {other, *range(at, last)} - {mine}:
            tails.append(version)
            heads.append(versions[place])
