"""The client checkers: all that can be said from the clients' operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.clients.final_read import FinalRead, FinalReads
from tidemark.checkers.clients.final_reads_disagree import final_reads_disagree
from tidemark.checkers.clients.lost_write import LostValue, lost_by_key, lost_writes
from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.columns.steps import StepRows
from tidemark.checkers.history.history import History, Value
from tidemark.checkers.replicas.contract import DELETED, UNDECIDED
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.replicas.untold import Untold
from tidemark.checkers.verdict.verdict import INFORMS, PERMITTED, VIOLATES, Anomaly, Judgement

RETENTION: Final = "retention"
"""The fault by which a broker's own retention deletes records."""


def clients_of(history: History) -> Clients:
    """What the clients of a history know."""
    columns: Columns = columns_of(history.ops) if history.columns is None else history.columns
    return Clients(
        columns,
        acks=history.meta.get("acks", "all"),
        faults_end_us=history.meta.get("faults_end_us"),
        committed_only=history.meta.get("transactions", False),
    )


class ClientRun:
    """What a client checker may go by. Lost values are judged as the replicas' evidence has it, else taken as `unknown`.

    Args:
        history: the run.
        fates: how lost values were judged by the replicas' evidence; receives how those were taken of which it said nothing.
        unknown: how to take these.
        deleted: the values that were deleted on purpose, `None` if only the clients know what they asked for.
        clients: what they know, if somebody has asked already.
        untold: says how to take the loss of a value, in place of `unknown`, of a system that tells nothing of its logs.

    Attributes:
        ordered: how a step is to be taken that is out of order.
    """

    def __init__(
        self,
        history: History,
        fates: Fates,
        unknown: Judgement,
        *,
        deleted: Mapping[str, set[Value]] | None = None,
        clients: Clients | None = None,
        untold: Untold | None = None,
    ) -> None:
        self.history, self.meta, self.fates = history, history.meta, fates
        self.clients = clients or clients_of(history)
        self.versions, self.steps = self.clients.versions, self.clients.steps
        self.ordered = Judgement(unknown.verdict, unknown.clause, ()) if deleted is None else INFORMS
        if untold is not None:
            self.ordered = untold.ordered
        self._unknown, self._deleted, self._untold = unknown, deleted, untold

    def _gone(self, key: str) -> set[Value]:
        return (self._deleted or {}).get(key, set())

    def fate(self, key: str, value: Value) -> Judgement | None:
        """How the loss of a value is to be taken, `None` for a value of which nobody says that it may have been lost."""
        found = self.fates.get((key, value)) or (DELETED if value in self._gone(key) else None)
        unknown = self._taken_as(key, value)
        return found or (unknown if unknown.verdict == PERMITTED else None)

    def _taken_as(self, key: str, value: Value) -> Judgement:
        """How to take the loss of a value of which nobody tells."""
        return self._unknown if self._untold is None else self._untold.judge(key, value)

    @cached_property
    def final_reads(self) -> FinalReads:
        """Those that came to their end; of a history that was cut off none did."""
        return FinalReads(self.clients, read_back=False if self.history.cut_off else self.meta.get("read_back"))

    @cached_property
    def lost(self) -> dict[str, list[LostValue]]:
        """What must be there and is not, by key."""
        return lost_by_key(self.clients, None if self._deleted is None else self._gone, self.final_reads)

    def lost_writes(self) -> list[Anomaly]:
        """What must be there and is not, but for what the replicas have told of; from now on it has a fate."""
        lost = {
            key: [one for one in values if one.read is None or (key, one.value) not in self.fates]
            for key, values in self.lost.items()
        }
        anomalies = lost_writes(self.clients, lost, self._taken)
        for key, values in lost.items():
            for one in values:
                self.fates.setdefault((key, one.value), self._taken(key, one))
        return anomalies

    def final_reads_disagree(self) -> list[Anomaly]:
        """What some final reads were given and others were not."""
        return final_reads_disagree(self.clients, self.final_reads, self._taken_of)

    def skips(self, rows: StepRows) -> tuple[StepRows, Judgement]:
        """Those of some steps that pass over a record, and how they are to be taken.

        A consumer goes on at the start of the log where what came next was deleted, so a step does not count if a client may have
        asked, before it was over, for the deletion of all that it passed over. How far retention went nobody knows without the
        replicas' evidence.
        """
        skips = rows.where(rows.delta > 1)
        if self.clients.deletions:
            kept = [
                not self.clients.may_be_deleted(key, offset, None, over)
                for key, offset, over in self.steps.passed(skips)
            ]
            skips = skips.where(np.array(kept, np.bool_))
        undecided = self.ordered.verdict == VIOLATES.verdict and self._retention
        return skips, UNDECIDED if undecided else self.ordered

    def _taken(self, key: str, one: LostValue) -> Judgement:
        found = self.fate(key, one.value)
        return found or (
            UNDECIDED if self._before_retention(key, one.offset, one.read) else self._taken_as(key, one.value)
        )

    def _taken_of(self, key: str, number: int, read: FinalRead) -> Judgement | None:
        """The same of a value by its id, that a final read did not return; None if it was deleted."""
        row = int(self.versions.a_row_of[number])
        value, offset = self.versions.value_of(row), int(self.versions.offset[row])
        asked = self._deleted is None and self.clients.may_be_deleted(key, offset, None, read.ended)
        if asked or value in self._gone(key):
            return None
        found = self.fate(key, value)
        return found or (UNDECIDED if self._before_retention(key, offset, read) else self._taken_as(key, value))

    def _before_retention(self, key: str, offset: int | None, read: FinalRead | None) -> bool:
        """Whether a record may have been deleted by retention, of which the nemesis tells, and nobody knows how far it went: it
        lies before all that the last final read was given.
        """
        if self._deleted is not None or not self._retention:
            return False
        first = self._first_shown.get(key)
        return offset is None or first is None or offset < first

    @cached_property
    def _retention(self) -> bool:
        return any(kind == RETENTION for _, _, _, kind, *_ in self.history.nemesis)

    @cached_property
    def _first_shown(self) -> dict[str, int]:
        """By key the first offset that its last final read returned."""
        reads, versions, columns = self.final_reads, self.versions, self.clients.columns
        return {
            columns.keys[key]: int(versions.offset[rows].min())
            for key, own in reads.of.items()
            if len(rows := reads.rows[(versions.key[reads.rows] == key) & (reads.places == len(own) - 1)])
        }

    @cached_property
    def unseen(self) -> dict[str, list[Ack]]:
        """The acknowledged records of which nobody knows whether they are there, by key."""
        found: dict[str, list[Ack]] = {}
        for key, ack in self.clients.unread_acks:
            if (key, ack.value) not in self.fates and not self._is_gone(key, ack):
                found.setdefault(key, []).append(ack)
        return found

    def _is_gone(self, key: str, ack: Ack) -> bool:
        if self._deleted is None:
            return self.clients.may_be_deleted(key, ack.offset, ack)
        return ack.value in self._gone(key)

    def accounted(self, but: AbstractSet[str] = frozenset()) -> tuple[int, int]:
        """How many acknowledged records were deleted on purpose, and of how many no final read tells (`but` those of some keys, of
        which somebody else does). After all checkers.
        """
        there = self.versions.acked & (self.final_reads.shown < 0)
        there[[one.number for values in self.lost.values() for one in values]] = False
        deleted = unknown = 0
        simple = self._deleted is None and not self.clients.deletions and self.fates.keys() <= self._own_fates
        if simple and not but:
            return 0, int(np.count_nonzero(there))
        for key, ack in self.clients.acks_of(there).values():
            if (key, ack.value) in self.fates:
                continue
            gone = self._is_gone(key, ack)
            deleted += gone
            unknown += not gone and key not in but
        return deleted, unknown

    @cached_property
    def _own_fates(self) -> set[tuple[str, Value]]:
        return {(key, one.value) for key, values in self.lost.items() for one in values}

    @property
    def missing(self) -> list[str]:
        """What is missing for the clients to say more, as sentences; after all checkers."""
        count = sum(map(len, self.unseen.values()))
        if not count:
            return []
        records = "1 acknowledged record was" if count == 1 else f"{count} acknowledged records were"
        return [f"{records} never read, and no final read says that there is nothing more to read"]


class ClientChecker(NamedTuple):
    """A line of the registry: what finds some anomalies in the clients' operations; see `ReplicaChecker`."""

    meanings: Mapping[str, str]
    find: Callable[[ClientRun], Iterable[Anomaly]]
    near_miss: bool = False
    rests_on_memory: bool = False


def check_clients(run: ClientRun, checkers: Iterable[ClientChecker]) -> list[Anomaly]:
    """What the checkers find, in their order."""
    return [anomaly for checker in checkers for anomaly in checker.find(run)]
