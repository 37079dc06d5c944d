"""What the clients of a run know, from the columns of their operations."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.client_view import Ack, Counts, Deletion
from tidemark.checkers.history.columns.columns import (
    ACKS,
    DELETION,
    F_SEND,
    F_TXN,
    FAIL,
    FIRST_NUMBERED,
    INFO,
    INVOKE,
    NOTHING,
    OK,
    UNKNOWN,
    Bits,
    Columns,
    Ints,
)
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.history.columns.versions import Versions
from tidemark.checkers.history.history import Value

NEVER = np.iinfo(np.int64).max
"""A time that does not come."""


class Clients:
    """The records as the clients saw them.

    Args:
        columns: their operations.
        acks: those of sends that do not say.
        faults_end_us: when the faults ended, if there were any.
        committed_only: consumers were given what is committed only, and every transaction had ended when final reads began.
    """

    def __init__(
        self, columns: Columns, *, acks: str = "all", faults_end_us: int | None = None, committed_only: bool = False
    ) -> None:
        self.columns = columns
        self.versions = Versions(columns)
        self.steps = Steps(self.versions)
        self._acks = acks
        self._faults_end_us = faults_end_us
        self._committed_only = committed_only

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
        return self._latest_invocation[ended].astype(np.int64)

    @cached_property
    def _latest_invocation(self) -> NDArray[Any]:
        columns = self.columns
        wide = np.int64 if len(columns) > np.iinfo(np.int32).max else np.int32  # there are several of these at a time
        process = columns.process
        if len(columns.processes) <= 1 << 16:
            process = process.astype(np.uint16)  # they are sorted by digits then
        order = np.argsort(process, kind="stable").astype(wide)
        process = process[order]
        latest = np.where(columns.type[order] == INVOKE, np.arange(len(order), dtype=wide), wide(-1))
        np.maximum.accumulate(latest, out=latest)
        same = latest >= 0
        same &= process[latest] == process
        found: NDArray[Any] = np.empty(len(order), wide)
        found[order] = np.where(same, order[latest], order)
        return found

    def acked_among(self, records: Collection[tuple[str, Value]]) -> list[tuple[str, Value]]:
        """Those of some records that were acknowledged."""
        versions, columns = self.versions, self.columns
        if not records:
            return []
        named = {value for _, value in records}
        numbers = [value for value in named if value.__class__ is int and -FIRST_NUMBERED < value < FIRST_NUMBERED]
        numbers += [FIRST_NUMBERED + place for place, value in enumerate(columns.values) if value in named]
        sends = np.flatnonzero(versions.is_send & (versions.type == OK))
        sends = sends[np.isin(columns.row_value[versions.rows[sends]], np.array(numbers, np.int64))]
        acked = {(columns.keys[versions.key[row]], versions.value_of(row)) for row in sends.tolist()}
        return [record for record in records if record in acked]

    @cached_property
    def unread_acks(self) -> list[tuple[str, Ack]]:
        """The first acknowledgements of the records that no poll returned, with their keys, in order of time."""
        unread = self.versions.acked & ~self.versions.read
        return [*self.acks_of(unread).values()] if unread.any() else []

    def acks_of(self, values: Bits) -> dict[int, tuple[str, Ack]]:
        """The first acknowledgements of those of the values that have one, by its id, with their keys, in order of time."""
        versions, columns = self.versions, self.columns
        rows = np.flatnonzero(versions.is_send & (versions.type == OK) & values[versions.value])
        _, first = np.unique(versions.value[rows], return_index=True)
        found = {}
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
            found[int(versions.value[row])] = columns.keys[versions.key[row]], ack
        return found

    @cached_property
    def must_stay_since(self) -> Ints:
        """By value: since when it must be there, in µs; `NEVER` if nobody can say that it must.

        It must from its acknowledgement under acks=all on, and from the end of the first ok poll that returned it: a consumer is
        given what is committed. Such a poll does not count for a value of a send that failed, nor for one of a transaction whose
        outcome is unknown: a consumer of what is not committed may have read it before it was aborted. Where consumers are given
        what is committed only, all of such a transaction must be there at the end if any of it was read.
        """
        versions, columns = self.versions, self.columns
        sends = np.flatnonzero(versions.is_send & (versions.type != FAIL))
        acked = sends[versions.type[sends] == OK]
        plain = np.zeros(versions.values, np.bool_)
        plain[versions.value[sends[columns.f[versions.half[sends]] != F_TXN]]] = True
        plain &= ~versions.failed
        plain |= versions.acked
        reads = np.flatnonzero(versions.is_read & (versions.type == OK))
        by_all = [place for place, name in enumerate(ACKS) if (name or self._acks) == "all"]
        since = np.full(versions.values, NEVER, np.int64)
        for rows in (acked[np.isin(columns.acks[versions.half[acked]], by_all)], reads[plain[versions.value[reads]]]):
            np.minimum.at(since, versions.value[rows], columns.time[versions.half[rows]])
        if self._committed_only:
            rows = sends[(versions.type[sends] == INFO) & (columns.f[versions.half[sends]] == F_TXN)]
            seen = np.zeros(len(columns), np.bool_)
            seen[versions.half[rows[versions.read_ok[versions.value[rows]]]]] = True
            rows = rows[seen[versions.half[rows]]]
            np.minimum.at(since, versions.value[rows], columns.time[versions.half[rows]])
        return since

    @cached_property
    def deletions(self) -> dict[str, list[Deletion]]:
        """The deletions by key that happened, or may have: one whose outcome is unknown may."""
        columns = self.columns
        found: dict[str, list[Deletion]] = {}
        open_: dict[int, tuple[str, int, int]] = {}
        for row in np.flatnonzero(columns.row_kind == DELETION):
            half = columns.row_half[row]
            key, offset = columns.keys[columns.row_key[row]], int(columns.row_offset[row])
            process, ended = int(columns.process[half]), columns.type[half]
            if ended == INVOKE:
                open_[process] = key, offset, int(columns.time[half])
                continue
            *_, begun = open_.pop(process, (key, offset, -1))
            if ended != FAIL:
                done = int(columns.time[half]) if ended == OK else None
                found.setdefault(key, []).append(Deletion(offset, done, begun))
        for key, offset, begun in open_.values():
            found.setdefault(key, []).append(Deletion(offset, None, begun))
        return found

    def may_be_deleted(self, key: str, offset: int | None, ack: Ack | None, gone: int = NEVER) -> bool:
        """Whether a client's request may have deleted a record at an offset, `None` if nobody knows at which; not one that was
        acknowledged later than it, nor one that was `gone` (µs) before anybody asked for that.
        """
        return any(
            (offset is None or offset < deletion.offset)
            and deletion.begun <= gone
            and (deletion.done is None or ack is None or ack.time <= deletion.done)
            for deletion in self.deletions.get(key, ())
        )
