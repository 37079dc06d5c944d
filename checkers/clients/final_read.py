"""The final reads of a key: who read all there was in the end, so that what it did not return is not there.

A client reads a key from the start to its end in polls that say that they are ``final``. Nobody can see from a poll alone whether
another would have returned more, so a final read has come to its end where

- the run says so (`read_back` in the meta line), or
- a later poll of the same client returned nothing any more of the key, or
- it was one poll, and the client's only one.

It covers the keys of which its polls tell. One that returned nothing at all tells of the keys that its client was assigned, else of
those of which no final read tells. An `assign` or `subscribe` begins another, but of a key that it names, and that the client had
begun to read, it is the same one, unless what comes then shows that it went elsewhere. Where the client had read the key before all
of that, and its first record comes right after the last one of these, it went on from there, and says nothing of what lies before.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(9, "c1", "t-0")._replace(final=True)]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was never read, although c1 had read all of t-0 by 0.000009 s.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.history.columns.columns import (
    F_ASSIGN,
    F_POLL,
    F_SUBSCRIBE,
    FAIL,
    INVOKE,
    KEPT,
    NOTHING,
    OK,
    READ,
    UNKNOWN,
    Ints,
)

_NOBODY = -1
_NO_HALF = -1


class FinalRead(NamedTuple):
    """Everything in a key was read by `process` between two times; what was acknowledged later could not have been.

    `end` is the last offset that it returned, -1 if there is none; `since` the first of which it tells, -1 if that is the start.
    """

    process: str | int
    began: int
    ended: int
    end: int
    since: int

    def told(self) -> dict[str, Any]:
        """As evidence."""
        return {"process": self.process, "began": self.began, "ended": self.ended}


class _Reader(NamedTuple):
    """The final polls of one process after one assignment, as halves; `assigned` is that, `_NO_HALF` if there was none.

    `before` is the number of the reader of that process whose turn was before, if any, and `keeps` are the keys where it may go on.
    """

    process: int
    assigned: int
    polls: list[int]
    before: int = _NOBODY
    keeps: frozenset[int] = frozenset()


class FinalReads:
    """The final reads that came to an end.

    Args:
        clients: the run's.
        read_back: whether the run says that its final reads came to an end; None if it does not say.

    Attributes:
        of: by the number of a key its final reads, by when they ended.
        rows, places: what they returned, as rows of the versions, and each row's place among the reads of its key.
    """

    def __init__(self, clients: Clients, *, read_back: bool | None) -> None:
        self._clients, self._versions, self._columns = clients, clients.versions, clients.columns
        self._read_back = read_back
        self.of: dict[int, list[FinalRead]] = {}
        self.rows = self.places = np.empty(0, np.int64)
        readers = [] if read_back is False else self._readers()
        if readers:
            self._gather(readers)

    @cached_property
    def shown(self) -> Ints:
        """By value: the place of the last final read of its key that returned it, -1 if none did."""
        shown = np.full(self._versions.values, -1, np.int64)
        np.maximum.at(shown, self._versions.value[self.rows], self.places)
        return shown

    def _readers(self) -> list[_Reader]:
        columns = self._columns
        polls = (columns.final != 0) & (columns.f == F_POLL)
        moves = (
            ((columns.f == F_ASSIGN) | (columns.f == F_SUBSCRIBE)) & (columns.type != INVOKE) & (columns.type != FAIL)
        )
        halves = np.flatnonzero(polls | moves)
        halves = halves[np.argsort(columns.process[halves], kind="stable")]
        if not polls.any():
            return []
        process = columns.process[halves]
        begins = np.concatenate(([True], process[1:] != process[:-1])) | moves[halves]
        found: list[_Reader] = []
        keeps: frozenset[int] | None = None
        for part in np.split(halves, np.flatnonzero(begins)[1:]):
            own = int(columns.process[part[0]])
            assigned = int(part[0]) if moves[part[0]] else _NO_HALF
            before = len(found) - 1 if found and found[-1].process == own else _NOBODY
            if before != _NOBODY:
                keeps = self._named(assigned) if keeps is None else keeps & self._named(assigned)
            told = part[polls[part]].tolist()
            if told:
                found.append(_Reader(own, assigned, told, before, keeps or frozenset()))
                keeps = None
        return found

    def _named(self, assigned: int) -> frozenset[int]:
        """The keys that an assignment names."""
        columns = self._columns
        begin, end = np.searchsorted(columns.row_half, (assigned, assigned + 1))
        return frozenset(columns.row_key[begin:end][columns.row_kind[begin:end] == KEPT].tolist())

    def _gather(self, readers: list[_Reader]) -> None:
        columns, versions = self._columns, self._versions
        keys = len(columns.keys)
        of_half = np.full(len(columns), _NOBODY, np.int64)
        for number, reader in enumerate(readers):
            of_half[reader.polls] = number
        rows = np.flatnonzero((of_half[columns.row_half] != _NOBODY) & np.isin(columns.row_kind, (READ, NOTHING)))
        pairs, pair = np.unique(of_half[columns.row_half[rows]] * keys + columns.row_key[rows], return_inverse=True)
        ok = columns.type[columns.row_half[rows]] == OK
        read = columns.row_kind[rows] == READ
        returned = np.searchsorted(versions.rows, rows[read])  # they, as rows of the versions
        same, began = self._same(readers, pairs, pair[read], versions.offset[returned])
        known = {*pairs.tolist(), *same.tolist()}
        pairs, now = np.unique(same, return_inverse=True)
        pair = now[pair]
        last_named = _greatest(len(pairs), pair[ok], columns.row_half[rows[ok]])
        last_read = _greatest(len(pairs), pair[ok & read], columns.row_half[rows[ok & read]])
        end = _greatest(len(pairs), pair[read], versions.offset[returned])
        answers = [[half for half in reader.polls if columns.type[half] == OK] for reader in readers]
        full = np.zeros(len(columns), np.bool_)
        full[columns.row_half[rows[read]]] = True
        empty = [max((half for half in own if not full[half]), default=_NO_HALF) for own in answers]
        since = self._went_on(readers, pairs, pair[read], returned, began)
        found: list[tuple[int, FinalRead, int]] = []
        for place, (number, key) in enumerate(zip(*np.divmod(pairs, max(keys, 1)), strict=True)):
            last = max(int(last_named[place]), empty[number])
            ended = last != _NO_HALF and (last != last_read[place] or len(answers[number]) == 1)
            if (ended or self._read_back) and columns.type[readers[number].polls[-1]] == OK:
                first = began.get(int(pairs[place]), number)
                found.append((int(key), self._read(readers, number, int(end[place]), int(since[place]), first), place))
        told = set((pairs % max(keys, 1)).tolist())
        for number, key in self._of_nothing(readers, empty, told, known):
            found.append((key, self._read(readers, number, UNKNOWN, UNKNOWN, number), _NOBODY))
        found.sort(key=lambda one: (one[0], one[1].ended, one[1].began))
        place_of = np.full(len(pairs), _NOBODY, np.int64)
        for key, one, at in found:
            of_key = self.of.setdefault(key, [])
            if at != _NOBODY:
                place_of[at] = len(of_key)
            of_key.append(one)
        places = place_of[pair[read]]
        self.rows, self.places = returned[places != _NOBODY], places[places != _NOBODY]

    def _same(self, readers: list[_Reader], pairs: Ints, pair: Ints, offset: Ints) -> tuple[Ints, dict[int, int]]:
        """By pair of reader and key: the pair of the last reader that went on with it; and by the latter who began, if others did.

        Args:
            readers: all of them.
            pairs: numbers of reader and key in one.
            pair: of each record that was returned.
            offset: where it was.
        """
        same, began = pairs.copy(), dict[int, int]()
        if all(reader.before == _NOBODY for reader in readers):
            return same, began
        keys = len(self._columns.keys)
        first = np.full(len(pairs), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(first, pair, offset)
        last = dict(zip(pairs.tolist(), _greatest(len(pairs), pair, offset).tolist(), strict=True))
        begin = {code: int(first[place]) for place, code in enumerate(pairs.tolist()) if last[code] != UNKNOWN}
        to = dict[int, int]()
        for number, reader in enumerate(readers):
            for key in sorted(reader.keeps):
                old, new = reader.before * keys + key, number * keys + key
                if last.get(old, UNKNOWN) != UNKNOWN and (new not in begin or begin[new] > last[old]):
                    to[old], began[new] = new, began.pop(old, reader.before)
                    last[new] = max(last[old], last.get(new, UNKNOWN))
        for old in reversed(to):
            to[old] = to.get(to[old], to[old])
        return np.array([to.get(code, code) for code in pairs.tolist()], np.int64), began

    def _read(self, readers: list[_Reader], number: int, end: int, since: int, first: int) -> FinalRead:
        columns, reader = self._columns, readers[number]
        began = int(columns.time[self._clients.began(np.array(readers[first].polls[:1]))[0]])
        return FinalRead(columns.processes[reader.process], began, int(columns.time[reader.polls[-1]]), end, since)

    def _of_nothing(
        self, readers: list[_Reader], empty: list[int], told: set[int], known: set[int]
    ) -> Iterable[tuple[int, int]]:
        """Readers and keys of which their polls do not tell by name, and that they have read all the same: there is nothing."""
        columns = self._columns
        keys = set(self._clients.keys)
        untold = [number for number, name in enumerate(columns.keys) if name in keys and number not in told]
        latest = None
        for number, reader in enumerate(readers):
            if columns.type[reader.polls[-1]] != OK or (empty[number] == _NO_HALF and not self._read_back):
                continue
            if reader.assigned == _NO_HALF:
                latest = number if latest is None or readers[latest].polls[0] < reader.polls[0] else latest
            elif columns.f[reader.assigned] == F_ASSIGN and columns.type[reader.assigned] == OK:
                for key in sorted(self._named(reader.assigned)):
                    if number * len(columns.keys) + key not in known:
                        yield number, key
        if latest is not None:
            yield from ((latest, key) for key in untold)

    def _went_on(self, readers: list[_Reader], pairs: Ints, pair: Ints, returned: Ints, began: dict[int, int]) -> Ints:
        """By pair of reader and key: the first offset that was returned, if it is next to the last that its process had read."""
        columns, versions = self._columns, self._versions
        since = np.full(len(pairs), UNKNOWN, np.int64)
        ours = np.zeros(len(columns.processes), np.bool_)
        ours[[reader.process for reader in readers]] = True
        half = versions.half
        before = np.flatnonzero(versions.is_read & (versions.type == OK) & (columns.final[half] == 0))
        before = before[ours[columns.process[half[before]]]]
        if not len(before) or not len(returned):
            return since
        keys = len(columns.keys)
        code = columns.process[half[before]].astype(np.int64) * keys + versions.key[before]
        order = np.argsort(code, kind="stable")
        before, code = before[order], code[order]
        position = versions.row_position
        first = np.full(len(pairs), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(first, pair, position[returned])
        offset = np.full(len(pairs), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(offset, pair, versions.offset[returned])
        for place in np.unique(pair).tolist():
            number, key = divmod(int(pairs[place]), keys)
            reader = readers[began.get(int(pairs[place]), number)]
            begin, end = np.searchsorted(code, (reader.process * keys + key, reader.process * keys + key + 1))
            last = begin + int(np.searchsorted(half[before[begin:end]], reader.polls[0])) - 1
            if last < begin or half[before[last]] < reader.assigned:
                continue
            if 0 <= position[before[last]] == first[place] - 1:
                since[place] = offset[place]
        return since


def _greatest(size: int, places: Ints, numbers: Ints) -> Ints:
    """By place the greatest of its numbers, -1 where there is none."""
    found = np.full(size, -1, np.int64)
    np.maximum.at(found, places, numbers)
    return found
