"""The client checkers: all that can be said from the clients' operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tidemark.checkers.clients.aborted_read import aborted_reads
from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.clients.cycles import cycles
from tidemark.checkers.clients.duplicate import duplicates
from tidemark.checkers.clients.final_read import final_reads
from tidemark.checkers.clients.inconsistent_offsets import inconsistent_offsets
from tidemark.checkers.clients.int_nonmonotonic_poll import int_nonmonotonic_polls
from tidemark.checkers.clients.int_nonmonotonic_send import int_nonmonotonic_sends
from tidemark.checkers.clients.int_poll_skip import int_poll_skips
from tidemark.checkers.clients.int_send_skip import int_send_skips
from tidemark.checkers.clients.lost_write import lost_by_key, lost_writes
from tidemark.checkers.clients.nonmonotonic_poll import nonmonotonic_polls
from tidemark.checkers.clients.nonmonotonic_send import nonmonotonic_sends
from tidemark.checkers.clients.phantom import phantoms
from tidemark.checkers.clients.poll_skip import poll_skips
from tidemark.checkers.clients.precommitted_read import precommitted_reads
from tidemark.checkers.clients.unseen import unseen_anomaly
from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.columns import Columns, columns_of
from tidemark.checkers.history.history import History, Value
from tidemark.checkers.replicas.contract import DELETED
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.verdict.verdict import INFORMS, PERMITTED, Anomaly, Judgement


class Found(NamedTuple):
    """The anomalies, and what is missing for the clients to say more, as sentences."""

    anomalies: list[Anomaly]
    missing: list[str]


def clients_of(history: History) -> Clients:
    """What the clients of a history know."""
    columns: Columns = columns_of(history.ops) if history.columns is None else history.columns
    return Clients(columns, acks=history.meta.get("acks", "all"), faults_end_us=history.meta.get("faults_end_us"))


def check_clients(
    history: History,
    fates: Fates,
    unknown: Judgement,
    *,
    deleted: Mapping[str, set[Value]] | None = None,
    clients: Clients | None = None,
) -> Found:
    """The client checkers. Lost values are judged as the replicas' evidence has it, else taken as `unknown`.

    Args:
        history: the run.
        fates: how lost values were judged by the replicas' evidence; receives how those were taken of which it said nothing.
        unknown: how to take these.
        deleted: the values that were deleted on purpose, `None` if only the clients know what they asked for.
        clients: what they know, if somebody has asked already.
    """
    clients = clients or clients_of(history)
    versions, steps, gone = clients.versions, clients.steps, deleted or {}

    def fate(key: str, value: Value) -> Judgement | None:
        found = fates.get((key, value)) or (DELETED if value in gone.get(key, ()) else None)
        return found or (unknown if unknown.verdict == PERMITTED else None)

    known: Callable[[str], set[Value]] | None = None if deleted is None else (lambda key: gone.get(key, set()))
    reads = {} if history.cut_off else final_reads(clients, read_back=history.meta.get("read_back"))
    found = lost_by_key(clients, known, reads)
    lost = {
        key: [one for one in values if one.read is None or (key, one.value) not in fates]
        for key, values in found.items()
    }
    anomalies = lost_writes(clients, lost, lambda key, value: fate(key, value) or unknown)
    for key, values in lost.items():
        for one in values:
            fates.setdefault((key, one.value), unknown)
    ordered = Judgement(unknown.verdict, unknown.clause, ()) if deleted is None else INFORMS
    anomalies += [
        *inconsistent_offsets(versions, fate),
        *duplicates(versions, idempotent=history.meta.get("idempotent", True)),
        *aborted_reads(versions),
        *phantoms(versions),
        *precommitted_reads(versions),
        *poll_skips(steps, ordered),
        *nonmonotonic_polls(steps, ordered),
        *int_poll_skips(steps, ordered),
        *int_nonmonotonic_polls(steps, ordered),
        *nonmonotonic_sends(steps, ordered),
        *int_nonmonotonic_sends(steps, ordered),
        *int_send_skips(steps),
        *cycles(
            versions,
            acks=history.meta.get("acks", "all"),
            lost=fates.keys(),
            listed=history.meta.get("ties") == "listed",
        ),
    ]
    unseen = _unseen(clients, fates, deleted)
    anomalies += [unseen_anomaly(key, acks) for key, acks in sorted(unseen.items())]
    return Found(anomalies, _never_read(sum(map(len, unseen.values()))))


def _unseen(clients: Clients, fates: Fates, deleted: Mapping[str, set[Value]] | None) -> dict[str, list[Ack]]:
    """The acknowledged records of which nobody knows whether they are there, by key.

    `fates` are those that were lost, `deleted` those that were deleted on purpose, `None` if only the clients know.
    """
    found: dict[str, list[Ack]] = {}
    for key, ack in clients.unread_acks:
        if (key, ack.value) in fates:
            continue
        if not _is_gone(clients, key, ack, deleted):
            found.setdefault(key, []).append(ack)
    return found


def _is_gone(clients: Clients, key: str, ack: Ack, deleted: Mapping[str, set[Value]] | None) -> bool:
    if deleted is None:
        return clients.may_be_deleted(key, ack.offset, ack)
    return ack.value in deleted.get(key, ())


def _never_read(count: int) -> list[str]:
    if not count:
        return []
    records = "1 acknowledged record was" if count == 1 else f"{count} acknowledged records were"
    return [f"{records} never read, and no final read says that there is nothing more to read"]
