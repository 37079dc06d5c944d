"""What follows from the columns about every record: who sent it, who read it, at which offsets it is, and in which order.

Inference is Jepsen's (``jepsen.tests.kafka``). Polls count whatever their completion. A send *must have committed* if its operation
is ok, or is info and an ok poll read one of the records that it sent. The *version order* of a key numbers the offsets that were
seen, by polls and by sends that must have committed, without gaps: the difference of two positions says how many offsets that
somebody saw lie between them. Where an offset has several values only the one seen first has a
position; a value with several offsets is where a client was told that it is, else nowhere. (Jepsen asks for every record by
its value, and so tells of one that is there twice as nonmonotonic as well.)

All keys are numbered through: a value or an offset of a key has a number of its own, its *id*, and tables by id take the place of
sets and dicts. Ids grow with key and offset. Where the numbers are dense, an id is the number less a constant; else they are
sorted. So memory follows the number of rows, however large offsets and values are.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.columns import FAIL, INFO, OK, READ, TYPES, UNKNOWN, Bits, Columns, Ints, Value

_DENSE = 4
"""A table may have so many places for each row."""


class Sighting(NamedTuple):
    """One time a client learned that `value` is at `offset`: by a ``send`` or ``poll``, which ended as `type` says."""

    time: int
    process: str | int
    f: str
    type: str
    offset: int | None
    value: Value


class Ids(NamedTuple):
    """The id of each row, and how many ids there may be."""

    of: Ints
    size: int


def ids_of(key: NDArray[np.int32], number: Ints, keys: int) -> Ids:
    """An id for every pair of key and number, ordered as the pairs are."""
    if not len(number):
        return Ids(np.empty(0, np.int64), 0)
    most = np.iinfo(np.int64).max
    low = np.full(keys, most, np.int64)
    high = np.full(keys, -most, np.int64)
    np.minimum.at(low, key, number)
    np.maximum.at(high, key, number)
    there = low <= high
    if (high.astype(float) - low)[there].sum() + keys <= _DENSE * len(number) + (1 << 12):
        size = np.where(there, high - low + 1, 0)
        base = np.cumsum(size) - size
        return Ids((base - np.where(there, low, 0))[key] + number, int(size.sum()))
    order = np.lexsort((number, key))
    sorted_key, sorted_number = key[order], number[order]
    new = np.empty(len(order), np.int64)
    new[0] = 0
    new[1:] = (sorted_key[1:] != sorted_key[:-1]) | (sorted_number[1:] != sorted_number[:-1])
    rank = np.cumsum(new, out=new)
    of = np.empty_like(rank)
    of[order] = rank
    return Ids(of, int(rank[-1]) + 1)


def table(size: int, ids: Ints) -> Bits:
    """True at these ids."""
    made = np.zeros(size, np.bool_)
    made[ids] = True
    return made


class Versions:
    """The records of a history: sends and what polls returned, one row each, in the order of the history.

    Attributes:
        rows: their rows in the columns.
        half, key, offset: of each row, from the columns.
        is_send, is_read: which of the two it is; a read is in a completion.
        type: how its half ended.
        value: the id of its value.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        wanted = columns.row_kind <= READ
        self.rows = np.flatnonzero(wanted)
        chosen = slice(None) if len(self.rows) == len(wanted) else wanted  # all of them need no copies
        self.half = columns.row_half[chosen]
        self.key = columns.row_key[chosen]
        self.offset = columns.row_offset[chosen]
        self.is_read = columns.row_kind[chosen] == READ
        self.is_send = ~self.is_read
        self.type = columns.type[self.half]
        self.value, self.values = ids_of(self.key, columns.row_value[chosen], len(columns.keys))

    @cached_property
    def sent(self) -> Bits:
        """By value: somebody tried to send it."""
        return table(self.values, self.value[self.is_send])

    @cached_property
    def acked(self) -> Bits:
        """By value: its send was acknowledged."""
        return table(self.values, self.value[self.is_send & (self.type == OK)])

    @cached_property
    def failed(self) -> Bits:
        """By value: a send of it failed."""
        return table(self.values, self.value[self.is_send & (self.type == FAIL)])

    @cached_property
    def read(self) -> Bits:
        """By value: a poll returned it, however it ended."""
        return table(self.values, self.value[self.is_read])

    @cached_property
    def read_ok(self) -> Bits:
        """By value: an ok poll returned it."""
        return table(self.values, self.value[self.is_read & (self.type == OK)])

    @cached_property
    def _committed_rows(self) -> Bits:
        """The sends that must have committed."""
        rows: Bits = self.is_send & (self.type == OK)
        info = np.flatnonzero(self.is_send & (self.type == INFO))
        if len(info):
            seen = table(len(self.columns), self.half[info[self.read_ok[self.value[info]]]])
            rows[info[seen[self.half[info]]]] = True
        return rows

    @cached_property
    def committed(self) -> Bits:
        """By value: its send must have committed."""
        return table(self.values, self.value[self._committed_rows])

    @cached_property
    def sightings(self) -> Ints:
        """The rows (of these) that tell at which offset a value is."""
        return np.flatnonzero((self.is_read | self._committed_rows) & (self.offset > UNKNOWN))

    @cached_property
    def places(self) -> Ids:
        """The id of each sighting's offset."""
        rows = self.sightings
        return ids_of(self.key[rows], self.offset[rows], len(self.columns.keys))

    @cached_property
    def _chosen(self) -> tuple[Ints, Ints]:
        """By offset: the value seen there first, -1 where there was none; and the offset's position."""
        value = np.full(self.places.size, -1, np.int64)
        value[self.places.of[::-1]] = self.value[self.sightings][::-1]
        return value, np.cumsum(value >= 0) - 1

    @cached_property
    def position(self) -> Ints:
        """By value: its position in the version order of its key, -1 if it has none. Those of the next key follow."""
        value, position = self._chosen
        there = value >= 0
        made = np.full(self.values, -1, np.int64)
        made[value[there]] = position[there]
        return made

    @cached_property
    def row_position(self) -> Ints:
        """The position of each of these rows, -1 if it has none."""
        value, position = self._chosen
        rows, places = self.sightings, self.places.of
        made = self.position[self.value]
        if len(self.repeated):
            made[table(self.values, self.value[self.repeated])[self.value]] = -1
            named = value[places] == self.value[rows]
            made[rows[named]] = position[places[named]]
        return made

    @cached_property
    def value_at(self) -> Ints:
        """By position: the id of the value there."""
        value, _ = self._chosen
        return value[value >= 0]

    @cached_property
    def offset_at(self) -> Ints:
        """By position: the offset there."""
        _, position = self._chosen
        made = np.empty(len(self.value_at), np.int64)
        made[position[self.places.of]] = self.offset[self.sightings]
        return made

    @cached_property
    def conflicting(self) -> Ints:
        """The sightings of offsets at which several values were seen."""
        value, _ = self._chosen
        found = value[self.places.of] != self.value[self.sightings]
        return self._all_like(found, self.places.of, self.places.size)

    @cached_property
    def repeated(self) -> Ints:
        """The sightings of values that were seen at several offsets."""
        ids = self.value[self.sightings]
        place = np.full(self.values, -1, np.int64)
        place[ids] = self.places.of
        return self._all_like(place[ids] != self.places.of, ids, self.values)

    def _all_like(self, found: Bits, ids: Ints, count: int) -> Ints:
        """The sightings whose ids are among those found."""
        if not found.any():
            return self.sightings[:0]
        return self.sightings[table(count, ids[found])[ids]]

    @cached_property
    def first_and_last(self) -> tuple[Ints, Ints]:
        """By value: its first and its last position; -1 if it has none."""
        if not len(self.repeated):
            return self.position_of_all, self.position_of_all
        _, position = self._chosen
        ids = self.value[self.sightings]
        seen = position[self.places.of]
        first = np.full(self.values, np.iinfo(np.int64).max, np.int64)
        last = np.full(self.values, -1, np.int64)
        np.minimum.at(first, ids, seen)
        np.maximum.at(last, ids, seen)
        first[last < 0] = -1
        return first, last

    @cached_property
    def position_of_all(self) -> Ints:
        """By value: its position, also of those that lie at an offset that stands for another. Right where none is repeated."""
        if not len(self.conflicting):
            return self.position
        _, position = self._chosen
        made = np.full(self.values, -1, np.int64)
        made[self.value[self.sightings]] = position[self.places.of]
        return made

    @cached_property
    def a_row_of(self) -> Ints:
        """By value: the first of these rows that has it."""
        made = np.zeros(self.values, np.int64)
        made[self.value[::-1]] = np.arange(len(self.value) - 1, -1, -1)
        return made

    def value_of(self, row: int) -> Value:
        """The value of one of these rows."""
        return self.columns.value(int(self.columns.row_value[self.rows[row]]))

    def sighting(self, row: int) -> Sighting:
        """One of these rows, in words."""
        half = self.half[row]
        columns = self.columns
        return Sighting(
            int(columns.time[half]),
            columns.processes[columns.process[half]],
            "poll" if self.is_read[row] else "send",
            TYPES[columns.type[half]],
            int(self.offset[row]) if self.offset[row] > UNKNOWN else None,
            self.value_of(row),
        )


def by_key(versions: Versions, rows: Ints) -> list[tuple[str, Ints]]:
    """Rows by the name of their key, each key's in the order of the history."""
    if not len(rows):
        return []
    keys = versions.key[rows]
    order = np.argsort(keys, kind="stable")
    parts = np.split(rows[order], np.flatnonzero(np.diff(keys[order])) + 1)
    return sorted(((versions.columns.keys[versions.key[part[0]]], part) for part in parts), key=lambda one: one[0])


def first_of_each(ids: Ints, rows: Ints) -> list[int]:
    """The rows in which an id stands for the first time."""
    first: dict[int, int] = {}
    for row in rows.tolist():
        first.setdefault(int(ids[row]), row)
    return list(first.values())
