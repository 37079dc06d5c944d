"""The client checkers: all that can be said from the clients' operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.clients.final_read import final_reads
from tidemark.checkers.clients.lost_write import lost_by_key, lost_writes
from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.history import History, Value
from tidemark.checkers.replicas.contract import DELETED
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.verdict.verdict import INFORMS, PERMITTED, Anomaly, Judgement


def clients_of(history: History) -> Clients:
    """What the clients of a history know."""
    columns: Columns = columns_of(history.ops) if history.columns is None else history.columns
    return Clients(columns, acks=history.meta.get("acks", "all"), faults_end_us=history.meta.get("faults_end_us"))


class ClientRun:
    """What a client checker may go by. Lost values are judged as the replicas' evidence has it, else taken as `unknown`.

    Args:
        history: the run.
        fates: how lost values were judged by the replicas' evidence; receives how those were taken of which it said nothing.
        unknown: how to take these.
        deleted: the values that were deleted on purpose, `None` if only the clients know what they asked for.
        clients: what they know, if somebody has asked already.

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
    ) -> None:
        self.history, self.meta, self.fates = history, history.meta, fates
        self.clients = clients or clients_of(history)
        self.versions, self.steps = self.clients.versions, self.clients.steps
        self.ordered = Judgement(unknown.verdict, unknown.clause, ()) if deleted is None else INFORMS
        self._unknown, self._deleted = unknown, deleted

    def _gone(self, key: str) -> set[Value]:
        return (self._deleted or {}).get(key, set())

    def fate(self, key: str, value: Value) -> Judgement | None:
        """How the loss of a value is to be taken, `None` for a value of which nobody says that it may have been lost."""
        found = self.fates.get((key, value)) or (DELETED if value in self._gone(key) else None)
        return found or (self._unknown if self._unknown.verdict == PERMITTED else None)

    def lost_writes(self) -> list[Anomaly]:
        """What was acknowledged and is not there; from now on it has a fate."""
        reads = {} if self.history.cut_off else final_reads(self.clients, read_back=self.meta.get("read_back"))
        found = lost_by_key(self.clients, None if self._deleted is None else self._gone, reads)
        lost = {
            key: [one for one in values if one.read is None or (key, one.value) not in self.fates]
            for key, values in found.items()
        }
        anomalies = lost_writes(self.clients, lost, lambda key, value: self.fate(key, value) or self._unknown)
        for key, values in lost.items():
            for one in values:
                self.fates.setdefault((key, one.value), self._unknown)
        return anomalies

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
