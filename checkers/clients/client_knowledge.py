"""What the clients of a run know, from the columns of their operations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from tidemark.checkers.history.client_view import Ack, Counts, Deletion
from tidemark.checkers.history.columns.columns import (
    ACKS,
    DELETION,
    F_POLL,
    F_SEND,
    FAIL,
    INVOKE,
    NOTHING,
    OK,
    READ,
    UNKNOWN,
    Bits,
    Columns,
    Ints,
)
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.history.columns.versions import Versions
from tidemark.checkers.history.history import Value


class Clients:
    """The records as the clients saw them.

    Args:
        columns: their operations.
        acks: those of sends that do not say.
        faults_end_us: when the faults ended, if there were any.
    """

    def __init__(self, columns: Columns, *, acks: str = "all", faults_end_us: int | None = None) -> None:
        self.columns = columns
        self.versions = Versions(columns)
        self.steps = Steps(self.versions)
        self._acks = acks
        self._faults_end_us = faults_end_us

    @cached_property
    def keys(self) -> list[str]:
        """The keys of which sends, polls or deletions tell."""
        kind = self.columns.row_kind
        told = (kind <= NOTHING) | (kind == DELETION)
        counts = np.bincount(self.columns.row_key[told], minlength=len(self.columns.keys))
        return [name for name, count in zip(self.columns.keys, counts.tolist(), strict=True) if count]

    @cached_property
    def counts(self) -> Counts:
        """How much the clients did."""
        columns = self.columns
        invoked, succeeded = (
            {name: int(count) for name, count in zip(columns.fs, found, strict=True) if count}
            for found in (
                np.bincount(columns.f[columns.type == type_], minlength=len(columns.fs)) for type_ in (INVOKE, OK)
            )
        )
        return Counts(int(np.count_nonzero(self.versions.acked)), invoked, succeeded, self._availability())

    def _availability(self) -> float | None:
        columns = self.columns
        ended = np.flatnonzero((columns.f == F_SEND) & (columns.type != INVOKE))
        if self._faults_end_us is not None:
            ended = ended[columns.time[self.began(ended)] < self._faults_end_us]
        return float(np.count_nonzero(columns.type[ended] == OK) / len(ended)) if len(ended) else None

    def began(self, ended: Ints) -> Ints:
        """The latest invocations of the processes of some completions; a completion that has none stands for itself."""
        found: Ints = self._latest_invocation[ended]
        return found

    @cached_property
    def _latest_invocation(self) -> Ints:
        columns = self.columns
        order = np.argsort(columns.process, kind="stable")
        invocation = np.where(columns.type[order] == INVOKE, np.arange(len(order)), -1)
        latest = np.maximum.accumulate(invocation)
        found = np.empty(len(order), np.int64)
        same = (latest >= 0) & (columns.process[order][latest] == columns.process[order])
        found[order] = np.where(same, order[latest], order)
        return found

    def is_acked(self, key: str, value: Value) -> bool:
        """Whether a record that nobody read was acknowledged."""
        return (key, value) in self._acked_unread

    @cached_property
    def _acked_unread(self) -> set[tuple[str, Value]]:
        return {(key, ack.value) for key, ack in self.unread_acks}

    @cached_property
    def unread_acks(self) -> list[tuple[str, Ack]]:
        """The first acknowledgements of the records that no poll returned, with their keys, in order of time."""
        unread = self.versions.acked & ~self.versions.read
        return self.acks_of(unread) if unread.any() else []

    def acks_of(self, values: Bits) -> list[tuple[str, Ack]]:
        """The first acknowledgements of those of the values that have one, with their keys, in order of time."""
        versions, columns = self.versions, self.columns
        rows = np.flatnonzero(versions.is_send & (versions.type == OK) & values[versions.value])
        _, first = np.unique(versions.value[rows], return_index=True)
        found = []
        for row in rows[np.sort(first)]:
            half = versions.half[row]
            offset = int(versions.offset[row])
            ack = Ack(
                int(columns.time[half]),
                columns.processes[columns.process[half]],
                versions.value_of(row),
                offset if offset > UNKNOWN else None,
                ACKS[columns.acks[half]] or self._acks,
            )
            found.append((columns.keys[versions.key[row]], ack))
        return found

    @cached_property
    def deletions(self) -> dict[str, list[Deletion]]:
        """The deletions by key that happened, or may have: one whose outcome is unknown may."""
        columns = self.columns
        found: dict[str, list[Deletion]] = {}
        open_: dict[int, tuple[str, int]] = {}
        for row in np.flatnonzero(columns.row_kind == DELETION):
            half = columns.row_half[row]
            key, offset = columns.keys[columns.row_key[row]], int(columns.row_offset[row])
            process, ended = int(columns.process[half]), columns.type[half]
            if ended == INVOKE:
                open_[process] = key, offset
                continue
            open_.pop(process, None)
            if ended != FAIL:
                done = int(columns.time[half]) if ended == OK else None
                found.setdefault(key, []).append(Deletion(offset, done))
        for key, offset in open_.values():
            found.setdefault(key, []).append(Deletion(offset, None))
        return found

    def may_be_deleted(self, key: str, offset: int | None, ack: Ack | None) -> bool:
        """Whether a client's request may have deleted a record at an offset, `None` if nobody knows at which; not one that was
        acknowledged later than it.
        """
        return any(
            (offset is None or offset < deletion.offset)
            and (deletion.done is None or ack is None or ack.time <= deletion.done)
            for deletion in self.deletions.get(key, ())
        )

    def final_polls(self) -> Iterable[tuple[str | int, list[int]]]:
        """The halves of final polls by process, in the order of the history."""
        columns = self.columns
        found: dict[str | int, list[int]] = {}
        for half in np.flatnonzero((columns.final != 0) & (columns.f == F_POLL)).tolist():
            found.setdefault(columns.processes[columns.process[half]], []).append(half)
        return found.items()

    def answer(self, half: int) -> dict[str, int]:
        """How many records of each key a poll returned."""
        columns = self.columns
        begin, end = np.searchsorted(columns.row_half, (half, half + 1))
        found: dict[str, int] = {}
        kinds, keys = columns.row_kind[begin:end].tolist(), columns.row_key[begin:end].tolist()
        for kind, key in zip(kinds, keys, strict=True):
            if kind in (READ, NOTHING):
                name = columns.keys[key]
                found[name] = found.get(name, 0) + (kind == READ)
        return found
