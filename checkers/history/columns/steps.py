"""From one record of a key to the next: inside an operation, and from one operation of a process to its next.

A *step* goes from one position in the version order to another. It is a step by 1 if nothing that anybody saw lies between;
more is a skip, less goes back or stays. Where one of the positions is not known, nothing is said.

A process keeps its position in a key from its last ok operation that moves it: of polls those that returned a record of it (one
that returned nothing leaves a consumer where it was; Jepsen forgets where, as its Kafka polls name no key without records), of
sends those whose place is known (Jepsen: all, so that one whose place nobody knows hides a step back). A send of unknown outcome
may take effect at any later time, so nothing has to come after it (where Jepsen has one, its process ends). An
``assign`` or ``subscribe`` that did not fail keeps positions only in the keys that it names. Final reads begin anew.
Inside an operation nothing is said of keys that were rebalanced in it.

Source: ``jepsen.tests.kafka``, ``poll-skip+nonmonotonic-cases``, ``nonmonotonic-send-cases`` and their ``int-`` kin.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tidemark.checkers.history.columns.columns import (
    F_ASSIGN,
    F_SUBSCRIBE,
    FAIL,
    INFO,
    KEPT,
    OK,
    READ,
    REBALANCED,
    SEND,
    Bits,
    Ints,
    Value,
)
from tidemark.checkers.history.columns.versions import Sighting, Versions

MOST_SKIPPED = 8
"""So many of the values that were skipped are named."""


class Step(NamedTuple):
    """A step that is not by 1; `skipped` are the first values between, if it skips."""

    key: str
    before: Sighting
    after: Sighting
    delta: int
    skipped: tuple[Value, ...]


class StepRows(NamedTuple):
    """Steps that are not by 1: the rows of the records, and how far apart they are."""

    before: Ints
    after: Ints
    delta: Ints

    def where(self, wanted: Bits) -> StepRows:
        """Some of them."""
        return StepRows(self.before[wanted], self.after[wanted], self.delta[wanted])


class Steps:
    """The steps of all processes in all keys."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._columns = versions.columns
        self.subscribed = bool((self._columns.f == F_SUBSCRIBE).any())
        """Whether the system gave consumers their keys, and might take them away."""

    @cached_property
    def _polls(self) -> tuple[StepRows, StepRows]:
        return self._steps(np.flatnonzero(self._columns.row_kind == READ), skips=True)

    @cached_property
    def _sends(self) -> tuple[StepRows, StepRows]:
        columns = self._columns
        rows = np.flatnonzero(columns.row_kind == SEND)
        ended = columns.type[columns.row_half[rows]]
        lasting = rows[(ended == OK) | (ended == INFO)]
        inside, between = self._steps(lasting, skips=False)
        known = self._positions(lasting) >= 0
        if not known.all():
            _, between = self._steps(lasting[known], skips=False)
        failed, _ = self._steps(rows[ended == FAIL], skips=False)
        return StepRows(*map(np.concatenate, zip(inside, failed, strict=True))), between

    @property
    def between_polls(self) -> StepRows:
        """From an ok poll of a process to its next poll of that key."""
        return self._polls[1]

    @property
    def inside_polls(self) -> StepRows:
        """Between the records of a key that one operation read."""
        return self._polls[0]

    @property
    def between_sends(self) -> StepRows:
        """From an ok send of a process to its next send to that key that did not fail.

        Only steps back: what lies between is of others.
        """
        return self._sends[1]

    @property
    def inside_sends(self) -> StepRows:
        """Between the records that one operation sent to a key."""
        return self._sends[0]

    def passed(self, rows: StepRows) -> Iterator[tuple[str, int, int]]:
        """Of each step that skips: its key, the last offset between that somebody saw, and when the step was over, in µs."""
        versions, columns = self._versions, self._columns
        before_them = self._positions(rows.after) - 1
        for after, offset in zip(rows.after.tolist(), versions.offset_at[before_them].tolist(), strict=True):
            yield columns.keys[columns.row_key[after]], offset, int(columns.time[columns.row_half[after]])

    def told(self, rows: StepRows) -> Iterator[tuple[str, list[Step]]]:
        """The steps in words, by the name of their key, each key's in the order of the history."""
        columns = self._columns
        keys = columns.row_key[rows.after]
        order = np.lexsort((rows.after, keys))
        ends = np.flatnonzero(np.diff(keys[order])) + 1
        parts = np.split(order, ends) if len(order) else []
        for part in sorted(parts, key=lambda part: columns.keys[keys[part[0]]]):
            yield columns.keys[keys[part[0]]], [self._told(rows, one) for one in part]

    def _told(self, rows: StepRows, one: int) -> Step:
        versions, columns = self._versions, self._columns
        before, after = np.searchsorted(versions.rows, (rows.before[one], rows.after[one]))
        delta = int(rows.delta[one])
        begin = versions.row_position[before] + 1
        between = versions.value_at[begin : begin + max(0, min(delta - 1, MOST_SKIPPED))]
        return Step(
            columns.keys[columns.row_key[rows.after[one]]],
            versions.sighting(before),
            versions.sighting(after),
            delta,
            tuple(versions.value_of(versions.a_row_of[value]) for value in between),
        )

    def _steps(self, rows: Ints, *, skips: bool) -> tuple[StepRows, StepRows]:
        """Inside operations and between them, of these rows of the columns. Between them skips count only with `skips`."""
        columns = self._columns
        if len(rows) < 2:
            nothing = np.empty(0, np.int64)
            return (StepRows(nothing, nothing, nothing),) * 2
        group = columns.row_key[rows].astype(np.int64) * len(columns.processes)
        group += columns.process[columns.row_half[rows]]
        small = len(columns.keys) * len(columns.processes) <= 1 << 16
        order = np.argsort(group.astype(np.uint16) if small else group, kind="stable")
        rows, group = rows[order], group[order]
        half = columns.row_half[rows]
        position = self._positions(rows)
        joined = (group[1:] == group[:-1]) & (half[1:] == half[:-1])
        inside = self._inside(rows, position, joined)
        starts = np.concatenate(([0], np.flatnonzero(~joined) + 1))
        ends = np.concatenate((starts[1:] - 1, [len(rows) - 1]))
        moves = np.arange(len(starts))
        moves[columns.type[half[starts]] != OK] = -1
        before = np.maximum.accumulate(moves)[:-1]
        begin, end = ends[before], starts[1:]
        delta = position[end] - position[begin]
        odd = ((delta != 1) if skips else (delta < 1)) & (before >= 0) & (group[begin] == group[end])
        odd &= (position[begin] >= 0) & (position[end] >= 0)
        found = StepRows(rows[begin[odd]], rows[end[odd]], delta[odd])
        return inside, found.where(self._kept(found))

    def _positions(self, rows: Ints) -> Ints:
        """The positions of the values in rows of the columns, -1 where there is none."""
        versions = self._versions
        if len(versions.rows) == len(self._columns.row_kind):
            return versions.row_position[rows]
        of_all = np.full(len(self._columns.row_kind), -1, np.int64)
        of_all[versions.rows] = versions.row_position
        return of_all[rows]

    def _inside(self, rows: Ints, position: Ints, joined: Bits) -> StepRows:
        columns = self._columns
        delta = position[1:] - position[:-1]
        odd = joined & (delta != 1) & (position[1:] >= 0) & (position[:-1] >= 0)
        found = StepRows(rows[:-1][odd], rows[1:][odd], delta[odd])
        rebalanced = columns.row_kind == REBALANCED
        if not len(found.after) or not rebalanced.any():
            return found
        keys = len(columns.keys)
        places = columns.row_half[rebalanced] * keys + columns.row_key[rebalanced]
        return found.where(~np.isin(columns.row_half[found.after] * keys + columns.row_key[found.after], places))

    def _kept(self, steps: StepRows) -> Bits:
        """Which steps are of a process that kept its position from one operation to the other."""
        columns = self._columns
        begin, end = columns.row_half[steps.before], columns.row_half[steps.after]
        kept: Bits = columns.final[begin] == columns.final[end]
        moved, named = self._assignments
        for one in np.flatnonzero(kept):
            process, key = int(columns.process[end[one]]), int(columns.row_key[steps.after[one]])
            span = int(begin[one]), int(end[one])
            kept[one] = _between(moved[process], *span) == _between(named[process, key], *span)
        return kept

    @cached_property
    def _assignments(self) -> tuple[dict[int, list[int]], dict[tuple[int, int], list[int]]]:
        """The halves in which a process was assigned keys, and those in which it was assigned a key."""
        columns = self._columns
        moved: dict[int, list[int]] = defaultdict(list)
        named: dict[tuple[int, int], list[int]] = defaultdict(list)
        ended = (columns.type == OK) | (columns.type == INFO)
        counts = ended & ((columns.f == F_ASSIGN) | (columns.f == F_SUBSCRIBE))
        for half in np.flatnonzero(counts).tolist():
            moved[int(columns.process[half])].append(half)
        rows = np.flatnonzero(columns.row_kind == KEPT)
        for row in rows[counts[columns.row_half[rows]]].tolist():
            half = int(columns.row_half[row])
            seen = named[int(columns.process[half]), int(columns.row_key[row])]
            if not seen or seen[-1] != half:
                seen.append(half)
        return moved, named


def _between(halves: list[int], begin: int, end: int) -> int:
    return bisect_left(halves, end) - bisect_left(halves, begin)
