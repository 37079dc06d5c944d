"""Who wrote each version, and what follows from that alone: `G1a`, `G1b`, `phantom`, `lost-update`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.objects.transactions.columns import IS_FAIL, IS_OK, Transactions

NOBODY = -1


class Sight(NamedTuple):
    """Something wrong with a version that a transaction read.

    Attributes:
        name: of the anomaly.
        version: the version.
        reader: the first that read it; -1 if the key's order alone tells of it.
        times: so many reads show it, or so many are part of it.
        others: transactions that are part of it, and others than the reader.
    """

    name: str
    version: int
    reader: int
    times: int
    others: tuple[int, ...] = ()


class Writers:
    """The writers of a history's versions.

    Attributes:
        writer: by version, `NOBODY` if nobody tried to write it.
        aborted: by version, whether it certainly was not written: its writer failed.
        intermediate: by version, whether its writer wrote the key again.
        doubtful: by key, whether one of its values was written twice, so that nothing is known about the key.
    """

    def __init__(self, found: Transactions) -> None:
        self.found = found
        versions = len(found.version_key)
        self.writer = np.full(versions, NOBODY, np.int64)
        self.writer[found.wrote] = found.write_of
        self.aborted = self._marked(found.outcome[found.write_of] == IS_FAIL)
        self.intermediate = self._marked(~found.is_final)
        twice = np.bincount(found.wrote, minlength=versions) > 1 if versions else np.zeros(0, np.bool_)
        self.doubtful = np.zeros(len(found.keys), np.bool_)
        self.doubtful[found.version_key[twice]] = True

    def _marked(self, rows: Bits) -> Bits:
        found = np.zeros(len(self.writer), np.bool_)
        found[self.found.wrote[rows]] = True
        return found

    @property
    def there(self) -> Bits:
        """By version: whether it may have been there, and who wrote it is known."""
        sure: Bits = (self.writer != NOBODY) & ~self.aborted & ~self.doubtful[self.found.version_key]
        return sure

    def seen(self, version: Ints, row: Ints) -> list[Sight]:
        """`G1a` and `phantom` of versions that were read in these rows of reads."""
        known = ~self.doubtful[self.found.version_key[version]]
        return [
            *self.sights("G1a", version, row, known & self.aborted[version]),
            *self.sights("phantom", version, row, known & (self.writer[version] == NOBODY)),
        ]

    def halfway(self, version: Ints, row: Ints) -> list[Sight]:
        """`G1b` of the versions that reads ended with."""
        other = self.writer[version] != self.found.read_of[row]
        known = self.there[version]
        return self.sights("G1b", version, row, known & other & self.intermediate[version])

    def sights(self, name: str, version: Ints, row: Ints, wanted: Bits) -> list[Sight]:
        """One of each version, with its first read."""
        if not wanted.any():
            return []
        version, row = version[wanted], row[wanted]
        versions, first, count = np.unique(version, return_index=True, return_counts=True)
        readers = self.found.read_of[row[first]]
        return [
            Sight(name, one, reader, many, self._writer_of(one))
            for one, reader, many in zip(versions.tolist(), readers.tolist(), count.tolist(), strict=True)
        ]

    def _writer_of(self, version: int) -> tuple[int, ...]:
        writer = int(self.writer[version])
        return () if writer == NOBODY else (writer,)

    def lost_updates(self, read: Ints) -> list[Sight]:
        """Transactions that read the same version of a key first, and then wrote the key, and are ok.

        Args:
            read: of each row of `updates`, a number for what it read; equal for equal states of one key.
        """
        found = self.found
        rows = found.updates
        known = ~self.doubtful[found.read_key[rows]] & (found.outcome[found.read_of[rows]] == IS_OK)
        rows, read = rows[known], read[known]
        order = np.argsort(read, kind="stable")
        sights = []
        for part in np.split(order, np.flatnonzero(np.diff(read[order])) + 1):
            if len(part) > 1:
                several = found.read_of[rows[part]].tolist()
                sights.append(Sight("lost-update", int(rows[part[0]]), several[0], len(several), tuple(several[1:8])))
        return sights
