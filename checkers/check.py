"""All checkers over one history, and the verdict.

>>> from checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[sent(1, "p1", "t-0", 7, 0), polled(2, "c1", "t-0", (0, 7))]))
>>> verdict.valid
'valid'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkers.aborted_read import aborted_reads
from checkers.broken_log import BrokenLog
from checkers.broker_crashed import crashes, told_once
from checkers.client_view import DELETE, ClientView, KeyView
from checkers.committed import Committed
from checkers.contract import DELETED, NEEDS_REPLICAS, PROMISES, UNDECIDED, UNJUDGED
from checkers.dirty_read import dirty_reads
from checkers.divergence import Divergence
from checkers.duplicate import duplicates
from checkers.final_read import FinalRead, final_reads
from checkers.history import History, Value
from checkers.hw_beyond_log import HwBeyondLog
from checkers.hw_regression import HwRegression
from checkers.in_sync import LIVE_PATIENCE_US, InSync
from checkers.inconsistent_offsets import inconsistent_offsets
from checkers.isr_quorum import IsrQuorum
from checkers.leader_completeness import incomplete_leaders
from checkers.log_matching import LogMatching
from checkers.lost_committed_write import Fates, LostWrites
from checkers.lost_write import lost_by_key, lost_writes
from checkers.missing_evidence import EndOfTrace, missing_of_clients
from checkers.phantom import phantoms
from checkers.replica_state import TooSparseError, replay
from checkers.stats import TraceCounts, statistics
from checkers.stuck import Stuck
from checkers.stuck_because import explained
from checkers.two_leaders import TwoLeaders
from checkers.unasked_election import unasked_elections, unclean_elections
from checkers.verdict import CLIENTS, CLIENTS_AND_REPLICAS, PERMITTED, VIOLATION, Anomaly, Judgement, Verdict
from checkers.wrong_deletion import WrongDeletion

DEFAULT_CONTRACT = "documented"
CLIENTS_CONTRACT = "durable"

_NOT_LOST_BY_REPLICAS = Judgement(VIOLATION, None, PROMISES)
"""The replicas have the record, and yet nobody can read it: no promise permits that."""


def check(history: History, contract: str | None = None) -> Verdict:
    """Judge a run.

    Args:
        history: what happened; a history with client operations only is judged by what the clients saw.
        contract: the promise to judge by (`PROMISES`), which alone counts then; else the history's own (``meta["contract"]``), else
        `documented`, or `durable` where nothing is known of the replicas. Others may count beside a run's own (`Contract`).

    Raises:
        ValueError: there is no such promise.
    """
    meta = history.meta
    doubts = doubts_about(meta)
    traced = bool(history.trace) and not doubts
    own = contract or meta.get("contract") or (DEFAULT_CONTRACT if traced else CLIENTS_CONTRACT)
    alone = contract is not None or meta.get("contract_alone", False)
    if own not in PROMISES:
        raise ValueError(f"there is no promise {own!r}; there are {', '.join(PROMISES)}")
    view = ClientView(history.ops, acks=meta.get("acks", "all"), faults_end_us=meta.get("faults_end_us"))
    counts = TraceCounts.of(history.trace)
    judged_from = CLIENTS_AND_REPLICAS if traced else CLIENTS
    fates: Fates = {}
    if history.gaps:
        stats = statistics(history, view, counts, fates, [])
        return Verdict("unknown", own, (), f"the history is not whole: {history.gaps}", stats, CLIENTS)
    deleted: dict[str, set[Value]] = {}
    missing = missing_of_clients(history)
    anomalies = []
    if traced:
        try:
            anomalies = check_replicas(history, view, own, fates, deleted, missing, alone=alone)
        except TooSparseError as error:
            traced, judged_from, doubts = False, CLIENTS, [str(error)]
    idempotent = meta.get("idempotent", True)
    unexplained = _unexplained(own, traced=traced, doubted=bool(doubts))
    known = deleted if traced else None
    reads = {} if history.cut_off else final_reads(history.ops, list(view.keys), read_back=meta.get("read_back"))
    anomalies += check_clients(
        view, fates, unexplained, traced=traced, idempotent=idempotent, deleted=known, reads=reads
    )
    missing += never_read(view, fates, known)
    anomalies = [*told_once(anomalies, history.trace, meta), *crashes(meta)]
    anomalies.sort(key=lambda anomaly: (anomaly.time, anomaly.partition))
    stats = statistics(history, view, counts, fates, anomalies)
    if any(anomaly.verdict == VIOLATION for anomaly in anomalies):
        return Verdict("invalid", own, tuple(anomalies), None, stats, judged_from)
    reasons = doubts or _nothing_happened(history, view, counts, anomalies)
    unknown = "; ".join([*reasons, *missing]) or None
    return Verdict("unknown" if unknown else "valid", own, tuple(anomalies), unknown, stats, judged_from)


def doubts_about(meta: Mapping[str, Any]) -> list[str]:
    """Why the replicas' evidence cannot be relied on, so that nothing may depend on it; empty if it can."""
    return [f"the replicas' evidence was not understood: {words}" for words in meta.get("not_understood", ())]


def check_replicas(
    history: History,
    view: ClientView,
    own: str,
    fates: Fates,
    deleted: dict[str, set[Value]] | None = None,
    missing: list[str] | None = None,
    *,
    alone: bool = False,
) -> list[Anomaly]:
    """The replica checkers, in one pass over the trace.

    `fates` receives how each lost record was judged, `deleted` the values of each partition that were deleted on purpose,
    `missing` what the trace does not tell of its end. `alone`: no promise counts but `own`.
    """
    meta, trace = history.meta, history.trace
    committed = Committed(trace, view.keys)
    patience_us = 0 if meta.get("world", "sim") == "sim" else LIVE_PATIENCE_US
    two_leaders = TwoLeaders()
    divergence = Divergence()
    log_matching = LogMatching(divergence)
    hw_regression = HwRegression()
    broken_log = BrokenLog(epoch_cache=meta.get("epoch_cache", True))
    wrong_deletion = WrongDeletion()
    hw_beyond_log = HwBeyondLog()
    stuck = Stuck()
    end = EndOfTrace(meta.get("replicas") or {})
    isr_quorum = IsrQuorum(patience_us)
    finding = (
        two_leaders,
        isr_quorum,
        divergence,
        log_matching,
        hw_regression,
        hw_beyond_log,
        broken_log,
        wrong_deletion,
        stuck,
    )
    in_sync = InSync(trace, committed, patience_us)
    watching = (committed, in_sync, *finding, end)
    replicas = replay(trace, watching)
    anomalies: list[Anomaly] = []
    unclean = unclean_elections(history)
    anomalies += unasked_elections(trace, unclean)
    min_isr, assignment = meta.get("min_isr", 1), meta.get("replicas")
    losses = LostWrites(trace, replicas, view.keys, own, min_isr, assignment, unclean, alone=alone)
    anomalies += losses.judge(committed)
    anomalies += losses.acknowledged_and_gone(committed)
    anomalies += dirty_reads(history.ops, trace, committed, patience_us)
    anomalies += in_sync.anomalies(losses.judgement)
    anomalies += incomplete_leaders(committed, losses.fate, losses.time_of)
    fates.update(losses.fates)
    if missing is not None:
        missing += end.missing
    if deleted is not None:
        deleted.update({name: committed.deleted_values(name) for name in replicas.by_partition})
    for checker in finding:
        anomalies += checker.anomalies
    return explained(anomalies, trace, replicas)


def _unexplained(own: str, *, traced: bool, doubted: bool) -> Judgement:
    """How to take a loss that the replicas' evidence does not explain. Where there is such evidence, and it is doubted, even the
    promise of clients alone may have lapsed.
    """
    if traced:
        return _NOT_LOST_BY_REPLICAS
    return UNJUDGED if own == CLIENTS_CONTRACT and not doubted else UNDECIDED


def check_clients(
    view: ClientView,
    fates: Fates,
    unknown: Judgement,
    *,
    traced: bool,
    idempotent: bool = True,
    deleted: Mapping[str, set[Value]] | None = None,
    reads: Mapping[str, FinalRead] | None = None,
) -> list[Anomaly]:
    """The client checkers. Lost values are judged as the replicas' evidence has it, else taken as `unknown`.

    `deleted` are the values that were deleted on purpose, `None` if only the clients know what they asked for; `reads` the final
    reads that came to an end, which need not repeat what the replicas told; `fates` receives how lost values were taken of which
    the replicas said nothing.
    """
    gone = deleted or {}

    def fate(key: str, value: Value) -> Judgement | None:
        found = fates.get((key, value)) or (DELETED if value in gone.get(key, ()) else None)
        return found or (unknown if unknown.verdict == PERMITTED else None)

    known = None if deleted is None else (lambda key: gone.get(key, set()))
    found = lost_by_key(view, known, reads)
    lost = {
        key: [one for one in values if one.read is None or (key, one.value) not in fates]
        for key, values in found.items()
    }
    told = lost_writes(view, lost, lambda key, value: fate(key, value) or unknown)
    for key, values in lost.items():
        for one in values:
            fates.setdefault((key, one.value), unknown)
    return [
        *told,
        *inconsistent_offsets(view, fate),
        *duplicates(view, idempotent=idempotent),
        *aborted_reads(view),
        *phantoms(view),
    ]


def never_read(view: ClientView, fates: Fates, deleted: Mapping[str, set[Value]] | None) -> list[str]:
    """The acknowledged records of which nobody knows whether they are there, as a sentence; none if there are none.

    `fates` are those that were lost, `deleted` those that were deleted on purpose, `None` if only the clients know.
    """
    unseen = [
        value
        for key, seen in view.keys.items()
        for value in seen.acked.keys() - seen.read_values()
        if (key, value) not in fates and not _is_deleted(key, seen, value, deleted)
    ]
    if not unseen:
        return []
    records = "1 acknowledged record was" if len(unseen) == 1 else f"{len(unseen)} acknowledged records were"
    return [f"{records} never read, and no final read says that there is nothing more to read"]


def _is_deleted(key: str, seen: KeyView, value: Value, deleted: Mapping[str, set[Value]] | None) -> bool:
    if deleted is not None:
        return value in deleted.get(key, ())
    return bool(seen.deletions) and seen.may_be_deleted(value, seen.acked[value].offset)


def _nothing_happened(history: History, view: ClientView, counts: TraceCounts, anomalies: list[Anomaly]) -> list[str]:
    """Why a run without violations proves nothing, should all evidence be there."""
    reasons = []
    if any(anomaly.clause == NEEDS_REPLICAS for anomaly in anomalies):
        reasons.append(
            "records were lost, and only evidence from the replicas could say whether the promise still held"
        )
    if not any(seen.acked for seen in view.keys.values()):
        reasons.append("no send was acknowledged")
    asked_for_none = history.meta.get("faults") == 0
    if history.trace and not asked_for_none and not (counts.elections or counts.truncations or counts.recoveries):
        reasons.append("there was no election beyond the initial one, no truncation and no recovery")
    never = sorted(kind for kind in view.invoked if kind != DELETE and not view.succeeded.get(kind))
    if never:
        reasons.append(f"these operations never succeeded: {', '.join(never)}")
    return reasons
