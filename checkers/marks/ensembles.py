"""Which entries' own ensembles lack them: BookKeeper's bookies, as the trace tells of them.

Bookies tell of every entry that they have (`stored`), and marks seldom ask. So what is told is only noted, and read when an
ensemble changes or a disk is lost.

>>> ensembles = Ensembles(enough=2)
>>> ensembles.noted += [
...     (5, 0, "ensemble", "t-0", 1, 0, (2, 3)),
...     (10, 2, "stored", "t-0", 0, 1, (7,)), (11, 3, "stored", "t-0", 0, 1, (7,)),
... ]
>>> ensembles.lacks("t-0", 1)
False
>>> ensembles.noted.append((20, 0, "ensemble", "t-0", 1, 0, (2, 1)))
>>> ensembles.lacks("t-0", 1)
True
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from typing import NamedTuple

from tidemark.checkers.history.trace_events import KIND, NODE, Ensemble, TraceEvent


class _Entry(NamedTuple):
    """The offset behind an entry, and who has it."""

    end: int
    bookies: set[int]


class Ensembles:
    """Of a run.

    Attributes:
        noted: what has been told since anybody asked: `stored`, `ensemble`, and stops that took the disk.

    Args:
        enough: how many bookies must have an entry.
    """

    def __init__(self, enough: int) -> None:
        self.noted: list[TraceEvent] = []
        self._enough = enough
        self._entries: defaultdict[tuple[str, int], dict[int, _Entry]] = defaultdict(dict)
        """Of each ledger, by their first offsets."""
        self._ensembles: defaultdict[tuple[str, int], list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
        """Of each ledger: from which entry on they lie on which bookies."""

    def lacks(self, partition: str, committed: int) -> bool:
        """Whether an entry below an offset is on fewer bookies of its own ensemble than must have it."""
        for event in self.noted:
            self._take(event)
        self.noted.clear()
        end = committed
        for ledger in sorted((number for name, number in self._entries if name == partition), reverse=True):
            entries = self._entries[partition, ledger]
            if self._lacks(entries, self._ensembles[partition, ledger], end):
                return True
            end = min(end, *entries)  # what an older ledger has from there on is not in the log
        return False

    def _take(self, event: TraceEvent) -> None:
        if event[KIND] == "stored":  # by place: there are many
            _, node, _, partition, base, ledger, values = event
            entries = self._entries[partition, ledger]
            entry = entries.get(base)
            if entry is None:
                entry = entries[base] = _Entry(base + len(values), set())
            entry.bookies.add(node)
        elif event[KIND] == "ensemble":
            told = Ensemble(event)
            fragments = self._ensembles[told.partition, told.ledger]
            fragments[:] = [*(one for one in fragments if one[0] < told.first), (told.first, told.bookies)]
        else:
            for entries in self._entries.values():
                for entry in entries.values():
                    entry.bookies.discard(event[NODE])

    def _lacks(self, entries: dict[int, _Entry], fragments: list[tuple[int, tuple[int, ...]]], committed: int) -> bool:
        firsts = [first for first, _ in fragments]
        for number, base in enumerate(sorted(entries)):
            entry = entries[base]
            if entry.end > committed:
                return False
            place = bisect(firsts, number) - 1
            if place >= 0 and len(entry.bookies.intersection(fragments[place][1])) < self._enough:
                return True
        return False
