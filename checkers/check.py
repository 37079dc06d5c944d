"""All checkers over one history, and the verdict.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7))]))
>>> verdict.valid
'valid'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from tidemark.checkers.acknowledged import numbers_of
from tidemark.checkers.clients.nothing_to_find import nothing_to_find
from tidemark.checkers.forgetful_coordinators import excused
from tidemark.checkers.history.client_view import DELETE, ClientView, Counts
from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.elr import was_off
from tidemark.checkers.history.history import History, Value
from tidemark.checkers.history.turning_points import turning_points
from tidemark.checkers.registry import OF_HISTORY, OF_REPLICAS, of_clients, rests_on_memory, seen_by_coordinators
from tidemark.checkers.replicas.broker_crashed import told_once
from tidemark.checkers.replicas.consensus.lost_disks import LostDisks
from tidemark.checkers.replicas.contract import ALL_PROMISES, NEEDS_REPLICAS, PROMISES, UNDECIDED, UNJUDGED, WITH_ELR
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.replicas.missing_evidence import missing_of_clients
from tidemark.checkers.replicas.replayed_replica import TooSparseError
from tidemark.checkers.replicas.replica_run import ReplicaRun, check_replicas
from tidemark.checkers.replicas.untold import Untold
from tidemark.checkers.stats import TraceCounts, statistics
from tidemark.checkers.verdict.verdict import (
    CLIENTS,
    CLIENTS_AND_REPLICAS,
    PERMITTED,
    VIOLATION,
    Anomaly,
    Judgement,
    Verdict,
)

if TYPE_CHECKING:
    from tidemark.checkers.clients.check_clients import ClientRun
    from tidemark.checkers.clients.client_knowledge import Clients

DEFAULT_CONTRACT = "documented"
CLIENTS_CONTRACT = "durable"

_MAY_FAIL = (DELETE, "crash")
"""Kinds of operations that may never succeed in a run that proves something; a client that Jepsen crashes never says ok."""

_NOT_LOST_BY_REPLICAS = Judgement(VIOLATION, None, PROMISES)
"""The replicas have the record, and yet nobody can read it: no promise permits that."""


def check(history: History, contract: str | None = None) -> Verdict:
    """Judge a run.

    Args:
        history: what happened; a history with client operations only is judged by what the clients saw.
        contract: the promise to judge by (`ALL_PROMISES`), which alone counts then; else the history's own
            (``meta["contract"]``; `documented` instead of `kip-966` where ELR was off for a while), else `documented`, or `durable`
            where nothing is known of the replicas. Others may count beside a run's own (`Contract`).

    Raises:
        ValueError: there is no such promise, or the operations are not those of the history's own model (``meta["model"]``).
    """
    with collector_paused():
        if "model" in history.meta:
            from tidemark.checkers.check_object import check_object  # seldom needed

            return check_object(history, _own_promise(contract or history.meta.get("contract") or CLIENTS_CONTRACT))
        return _check(history, contract)


def _given(history: History) -> str | None:
    """The history's own promise. What ELR promises does not hold where it was off."""
    given: str | None = history.meta.get("contract")
    return DEFAULT_CONTRACT if given == WITH_ELR and was_off(history) else given


def _check(history: History, contract: str | None) -> Verdict:
    meta = history.meta
    doubts = doubts_about(meta)
    traced = bool(history.trace) and not doubts and not meta.get("untold")
    own = _own_promise(contract or _given(history) or (DEFAULT_CONTRACT if traced else CLIENTS_CONTRACT))
    alone = contract is not None or meta.get("contract_alone", False)
    view = _view(history)
    points = turning_points(history.trace)
    counts = TraceCounts.of(points)
    untold = Untold(history, own) if meta.get("untold") else None
    judged_from = CLIENTS_AND_REPLICAS if traced or (untold is not None and untold.shows_logs) else CLIENTS
    fates: Fates = {}
    if history.gaps:
        stats = statistics(history, view.counts, counts, numbers_of((), 0, view.counts.acked), [])
        return Verdict("unknown", own, (), f"the history is not whole: {history.gaps}", stats, CLIENTS)
    deleted: dict[str, set[Value]] = {}
    compared: set[str] = set()
    clients: ClientRun | None = None
    missing = missing_of_clients(history)
    anomalies: list[Anomaly] = [] if untold is None else [*untold.find(fates)]
    if traced and isinstance(view, ClientView):
        doubted = doubted_nodes(meta)
        if not doubted:
            try:
                run = ReplicaRun(history, points, own, alone=alone, view=view)
                anomalies = check_replicas(run, OF_REPLICAS)
                fates.update(run.losses.fates)
                missing += run.end.missing
                deleted = {name: run.committed.deleted_values(name) for name in run.replicas.by_partition}
                if not (run.end.missing or history.cut_off):
                    compared = {name for name in deleted if run.committed.newest_leader(name) is not None}
            except TooSparseError as error:
                doubted = {error.node: [error.words]}
        if doubted:
            traced = False
            from tidemark.checkers.replicas.believed_nodes import check_believed, has_believed  # seldom needed

            anomalies = check_believed(history, doubted, own, fates, OF_REPLICAS, alone=alone)
            doubts = [words for node in sorted(doubted) for words in doubted[node]]
            judged_from = CLIENTS_AND_REPLICAS if has_believed(history.trace, doubted) else CLIENTS
    unexplained = _unexplained(own, traced=traced, doubted=bool(doubts))
    known = isinstance(view, ClientView) and view.keys.keys() <= compared and nothing_to_find(view, deleted)
    if not known:
        from tidemark.checkers.clients.check_clients import ClientRun, check_clients  # they import numpy

        clients = ClientRun(
            history,
            fates,
            unexplained,
            deleted=deleted if traced else None,
            clients=None if isinstance(view, ClientView) else view,
            untold=untold,
        )
        anomalies += check_clients(clients, of_clients())
        missing += clients.missing
    for checker in OF_HISTORY:
        anomalies += checker.find(history, fates)
    if not meta.get("isr", True):
        names = rests_on_memory() if any(one.verdict == VIOLATION for one in anomalies) else ()
        anomalies = LostDisks(points, meta).excuse(anomalies, names)
        _as_their_reads(fates, anomalies, unexplained)
    anomalies = told_once(excused(anomalies, history, seen_by_coordinators()), history.trace, meta)
    anomalies.sort(key=lambda anomaly: (anomaly.time, anomaly.partition))
    of_acked = _of_acked(view, clients, fates, deleted, compared)
    stats = statistics(history, view.counts, counts, of_acked, anomalies)
    if not isinstance(view, ClientView):
        from tidemark.checkers.clients.realtime_lag import worst_realtime_lag  # it imports numpy

        stats["worst_realtime_lag"] = worst_realtime_lag(view)
    if any(anomaly.verdict == VIOLATION for anomaly in anomalies):
        return Verdict("invalid", own, tuple(anomalies), None, stats, judged_from)
    reasons = doubts or _nothing_happened(history, view.counts, counts, anomalies, untold)
    unknown = "; ".join([*reasons, *missing]) or None
    return Verdict("unknown" if unknown else "valid", own, tuple(anomalies), unknown, stats, judged_from)


def _own_promise(name: str) -> str:
    if name not in ALL_PROMISES:
        raise ValueError(f"there is no promise {name!r}; there are {', '.join(ALL_PROMISES)}")
    return name


def _of_acked(
    view: ClientView | Clients,
    clients: ClientRun | None,
    fates: Fates,
    deleted: Mapping[str, AbstractSet[Value]],
    compared: AbstractSet[str],
) -> dict[str, Any]:
    """What became of the acknowledged records. Nobody can tell of those that no final read returned, in partitions (all but those
    `compared`) of which no replicas tell.
    """
    lost = [fates[record] for record in view.acked_among(fates)]
    if clients is not None and not (isinstance(view, ClientView) and view.keys.keys() <= compared):
        return numbers_of(lost, *clients.accounted(compared))
    gone = 0
    for key, seen in view.keys.items() if isinstance(view, ClientView) else ():
        gone += sum(value in seen.acked and (key, value) not in fates for value in deleted.get(key, ()))
    return numbers_of(lost, gone, 0)


def _as_their_reads(fates: Fates, anomalies: Sequence[Anomaly], unexplained: Judgement) -> None:
    """Of lost records that only clients told of, take those as permitted where every such loss of a partition is."""
    lost = [one for one in anomalies if one.name == "lost-write"]
    violated = {one.partition for one in lost if one.verdict == VIOLATION}
    clauses = {one.partition: one.clause for one in lost if one.partition not in violated}
    for (partition, value), fate in [*fates.items()]:
        if fate is unexplained and partition in clauses:
            fates[partition, value] = Judgement(PERMITTED, clauses[partition], ())


def doubts_about(meta: Mapping[str, Any]) -> list[str]:
    """Why the replicas' evidence cannot be relied on, so that nothing may depend on it; empty if it can."""
    return [f"the replicas' evidence was not understood: {words}" for words in meta.get("not_understood", ())]


def doubted_nodes(meta: Mapping[str, Any]) -> dict[int, list[str]]:
    """The nodes whose evidence alone cannot be relied on, and why; those of others can."""
    return {
        int(node): [f"the evidence of broker {node} was not understood: {words}" for words in said]
        for node, said in meta.get("doubted_nodes", {}).items()
        if said
    }


def _unexplained(own: str, *, traced: bool, doubted: bool) -> Judgement:
    """How to take a loss that the replicas' evidence does not explain. Where there is such evidence, and it is doubted, even the
    promise of clients alone may have lapsed.
    """
    if traced:
        return _NOT_LOST_BY_REPLICAS
    return UNJUDGED if own == CLIENTS_CONTRACT and not doubted else UNDECIDED


def _view(history: History) -> ClientView | Clients:
    """What the clients saw: for the replicas' evidence to be held against, where there is such, else in columns."""
    if history.trace and not history.meta.get("untold"):
        return ClientView(
            history.ops, acks=history.meta.get("acks", "all"), faults_end_us=history.meta.get("faults_end_us")
        )
    from tidemark.checkers.clients.check_clients import clients_of

    return clients_of(history)


def _nothing_happened(
    history: History, clients: Counts, counts: TraceCounts, anomalies: list[Anomaly], untold: Untold | None
) -> list[str]:
    """Why a run without violations proves nothing, should all evidence be there."""
    reasons = []
    if any(anomaly.clause == NEEDS_REPLICAS for anomaly in anomalies):
        reasons.append(
            "records were lost, and only evidence from the replicas could say whether the promise still held"
        )
    if not clients.acked:
        reasons.append("no send was acknowledged")
    asked_for_none = history.meta.get("faults") == 0
    if untold is not None:
        if not (asked_for_none or untold.was_struck):
            reasons.append("no fault of the plan could be suffered")
    elif (
        history.trace
        and not (asked_for_none or any(map(history.meta.get, ("transactions", "share_group"))))
        and not (counts.elections or counts.truncations or counts.recoveries)
    ):
        reasons.append("there was no election beyond the initial one, no truncation and no recovery")
    never = sorted(kind for kind in clients.invoked if kind not in _MAY_FAIL and not clients.succeeded.get(kind))
    if never:
        reasons.append(f"these operations never succeeded: {', '.join(never)}")
    return reasons
