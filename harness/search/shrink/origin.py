"""What a run's anomalies may have begun with: moments of the trace at which a replica goes wrong for a reason that has a name.

From there on its partition may lose records, differ or be stuck in many ways, and sentences about these say nothing of the
reason. So a cause has, besides, the origins that its partition has seen (:mod:`tidemark.harness.search.shrink.cause`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tidemark.checkers import Anomaly, History, Verdict
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Append,
    Elect,
    ElrSwitch,
    Isr,
    IsrChange,
    Lead,
    LogStart,
    Reassign,
    Recovered,
    TraceEvent,
    Truncate,
)
from tidemark.checkers.replicas.broken_log import LOG_START_FORGOTTEN
from tidemark.checkers.replicas.reassignment import NAME as REASSIGNMENT
from tidemark.checkers.replicas.replay import replay
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas
from tidemark.checkers.replicas.trace_checker import TraceChecker

MISSED_REIGN = "a leader that had missed the reign of another had committed what a member of its ISR lacked"
FORGOTTEN_LOG_START = "a recovery had brought records back, and not their epochs"
TAKEN_BACK = "a recovery had found a log that was no longer cut, under the epochs of what was written behind the cut"
STALE_LOG_START = "a recovery had deleted a log that ended before a log start of old"
NOBODY_LEFT = "a reassignment was taken back or replaced, and of the ISR nobody is a replica any more"
NO_REPLICA_ELIGIBLE = "who was no replica any more had gone into the ELR"
OTHER_PARTITION = "who left the ISR was not eligible, for partition 0 has fewer replicas than min ISR"
FORGOTTEN_ELR = "min ISR was changed while nobody was in the ISR, and the controller forgot who was eligible"
SWITCHED_ELR = "ELR had been switched off, and the controller did not know who could lead"
REPLACED_ORDER = "an order to reassign replicas had taken the place of one under way, and was disobeyed"


class Origin(NamedTuple):
    """One of them: when, in which partition, and a sentence."""

    time: int
    partition: str
    sentence: str


def origins_of(history: History, verdict: Verdict) -> tuple[Origin, ...]:
    """Those of a run, in the order in which they came, each sentence once for a partition."""
    return _found_in(_Run(history, verdict))


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Equal if it is the very same: every anomaly of a run asks, one after the other."""

    history: History
    verdict: Verdict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Run) and other.history is self.history and other.verdict is self.verdict

    def __hash__(self) -> int:
        return hash((id(self.history), id(self.verdict)))


@lru_cache(maxsize=1)
def _found_in(run: _Run) -> tuple[Origin, ...]:
    history, verdict = run.history, run.verdict
    found = [
        Origin(one.time, one.partition, FORGOTTEN_LOG_START)
        for one in verdict.anomalies
        if one.clause == LOG_START_FORGOTTEN
    ]
    found += [
        Origin(one.time, one.partition, REPLACED_ORDER)
        for one in verdict.named(REASSIGNMENT)
        if _took_a_place(one, history.trace)
    ]
    found += _taken_back(history.trace)
    found += _deleted_by_old_starts(history.trace)
    found += _taken_from_all_in_sync(history.trace)
    found += _eligible_without_a_replica(history.trace)
    found += _nobody_is_eligible(history.trace)
    found += _elr_was_switched(history.trace)
    found += _counted_by_partition_0(history.trace, history.meta.get("min_isr", 1))
    missed = frozenset(_missed_reigns(history.trace))
    if missed:
        watcher = _Commits(missed)
        replay(history.trace, (watcher,))
        found += watcher.found
    first = {(one.partition, one.sentence): one for one in sorted(found, reverse=True)}
    return tuple(sorted(first.values()))


def _taken_back(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Recoveries of a log that is longer than what was left of it, with epochs that are not its own: both are told at once."""
    recovered: dict[tuple[int, str], int] = {}
    longer: dict[tuple[int, str], int] = {}
    for event in trace:
        time, kind, place = event[TIME], event[KIND], (event[NODE], event[PARTITION])
        if kind == "recovered":
            recovered[place] = time
        elif kind == "append" and recovered.get(place) == time:
            longer[place] = time
        elif kind == "epochs" and longer.get(place) == time:
            yield Origin(time, place[1], TAKEN_BACK)


def _deleted_by_old_starts(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Recoveries of which an empty log came, at a log start beyond where the log had ended."""
    ends: dict[tuple[int, str], int] = {}
    beyond: dict[tuple[int, str], int] = {}
    for event in trace:
        kind, place = event[KIND], (event[NODE], event[PARTITION])
        if kind == "append":
            batch = Append(event)
            ends[place] = batch.base_offset + len(batch.values)
        elif kind == "truncate":
            ends[place] = Truncate(event).to
        elif kind == "recovered":
            end = Recovered(event).leo
            if end > ends.get(place, end):
                beyond[place] = end
            ends[place] = end
        elif kind == "log-start":
            moved = LogStart(event)
            if moved.how == "recovered" and moved.start == beyond.pop(place, -1):
                yield Origin(event[TIME], place[1], STALE_LOG_START)
            elif moved.how == "begin-anew":
                ends[place] = moved.start


def _taken_from_all_in_sync(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Reassignments that were under way, and left none of the ISR when taken back or replaced: nobody could be elected."""
    told: dict[str, Reassign] = {}
    taken_back: dict[str, Reassign] = {}
    for event in trace:
        kind, partition = event[KIND], event[PARTITION]
        if kind == "reassign":
            now, before = Reassign(event), told.get(partition)
            told[partition] = now
            if before is not None and not set(before.adding) <= set(now.replicas):
                taken_back[partition] = now
        elif kind == "elect" and (order := taken_back.pop(partition, None)) is not None:
            elect = Elect(event)
            if elect.leader < 0 and elect.isr and set(elect.isr).isdisjoint(order.replicas):
                yield Origin(event[TIME], partition, NOBODY_LEFT)


def _eligible_without_a_replica(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Moments at which the ELR has a broker that a reassignment, or its cancellation, has left without a replica."""
    replicas: dict[str, tuple[int, ...]] = {}
    for event in trace:
        kind, partition = event[KIND], event[PARTITION]
        if kind == "reassign":
            replicas[partition] = Reassign(event).replicas
        elif kind in ("elect", "isr-change") and partition in replicas:
            elr = Elect(event).elr if kind == "elect" else IsrChange(event).elr
            if not set(elr) <= set(replicas[partition]):
                yield Origin(event[TIME], partition, NO_REPLICA_ELIGIBLE)


def _counted_by_partition_0(trace: Sequence[TraceEvent], min_isr: int) -> Iterator[Origin]:
    """Moments at which an ISR is below min ISR, and who left it is not in the ELR: partition 0 of the topic has fewer replicas."""
    replicas: dict[str, int] = {}
    isrs: dict[str, tuple[int, ...]] = {}
    for event in trace:
        kind, partition = event[KIND], event[PARTITION]
        if kind == "reassign":
            replicas[partition] = len(Reassign(event).replicas)
        elif kind in ("elect", "isr-change"):
            now = Elect(event) if kind == "elect" else IsrChange(event)
            before, isrs[partition] = isrs.get(partition, ()), now.isr
            first = f"{partition.rpartition('-')[0]}-0"
            few = replicas.get(first, min_isr) <= len(now.isr) < min(min_isr, replicas.get(partition, min_isr))
            if few and partition != first and not set(before) <= {*now.isr, *now.elr}:
                yield Origin(event[TIME], partition, OTHER_PARTITION)


def _nobody_is_eligible(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Changes of min ISR that leave a partition with neither ISR nor ELR."""
    changed = -1
    for event in trace:
        if event[KIND] == "min-isr":
            changed = event[TIME]
        elif event[KIND] == "isr-change" and event[TIME] == changed:
            now = IsrChange(event)
            if not now.isr and not now.elr:
                yield Origin(changed, now.partition, FORGOTTEN_ELR)


def _elr_was_switched(trace: Sequence[TraceEvent]) -> Iterator[Origin]:
    """Moments at which nobody is in ISR and ELR of a partition and ELR is off, or was when its leader was lost; and elections of a
    last known leader that was not the last.
    """
    off = switched = False
    last: dict[str, int] = {}
    lost_while_off: set[str] = set()
    empty: set[str] = set()
    """Partitions of which nobody is in ISR and ELR."""
    for event in trace:
        kind, time = event[KIND], event[TIME]
        if kind == ElrSwitch.kind:
            off, switched = not ElrSwitch(event).on, True
            yield from (Origin(time, name, SWITCHED_ELR) for name in empty if off)
        elif kind in ("elect", "isr-change"):
            now = Elect(event) if kind == "elect" else IsrChange(event)
            name = now.partition
            (empty.discard if now.isr or now.elr else empty.add)(name)
            if name in empty and switched and (off or name in lost_while_off):
                yield Origin(time, name, SWITCHED_ELR)
            if isinstance(now, IsrChange):
                continue
            if now.leader >= 0:
                if switched and now.how == "last-known" and now.leader != last.get(name, now.leader):
                    yield Origin(time, name, SWITCHED_ELR)
                last[name] = now.leader
                lost_while_off.discard(name)
            elif off:
                lost_while_off.add(name)


def _took_a_place(disobeyed: Anomaly, trace: Sequence[TraceEvent]) -> bool:
    """Whether a reassignment was under way when the order came that was disobeyed."""
    before = list(Reassign.among(trace[: disobeyed.evidence["trace_index"]], disobeyed.partition))
    return bool(before and (before[-1].adding or before[-1].removing))


def _missed_reigns(trace: Sequence[TraceEvent]) -> Iterator[tuple[int, str, int]]:
    """Node, partition and leader epoch of every reign that a broker began as leader in its own eyes, after that of another."""
    elected: dict[str, list[tuple[int, int]]] = {}
    leads: dict[tuple[int, str], int] = {}
    for event in trace:
        kind, place = event[KIND], (event[NODE], event[PARTITION])
        if kind == "elect":
            elect = Elect(event)
            elected.setdefault(elect.partition, []).append((elect.leader_epoch, elect.leader))
        elif kind == "lead":
            epoch, before = Lead(event).leader_epoch, leads.get(place)
            leads[place] = epoch
            between = [] if before is None else [one for e, one in elected.get(place[1], ()) if before < e < epoch]
            if any(one not in (place[0], -1) for one in between):
                yield *place, epoch
        elif kind in ("follow", "removed"):
            leads.pop(place, None)
        elif kind == "stop":
            for one in [one for one in leads if one[0] == event[NODE]]:
                del leads[one]


class _Commits(TraceChecker):
    """Sees who in an ISR lacks what a leader of such a reign commits."""

    def __init__(self, missed: frozenset[tuple[int, str, int]]) -> None:
        self.found: list[Origin] = []
        self._missed = missed
        self._isr: dict[ReplayedReplica, Sequence[int]] = {}

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """Remember where the replicas are found."""
        self._replicas = replicas

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """The ISR it begins with."""
        self._isr[replica] = event.isr

    def on_own_isr(self, index: int, event: Isr, replica: ReplayedReplica) -> None:
        """Its ISR changed."""
        self._isr[replica] = event.isr

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """It commits."""
        place = replica.node, replica.partition, replica.epoch
        if place not in self._missed or not previous < replica.hw <= len(replica.records):
            return
        last = replica.records[replica.hw - 1]
        others = (self._replicas.at(node, replica.partition) for node in self._isr.get(replica, ()))
        if any(not one.has(replica.hw - 1, last) for one in others):
            self.found.append(Origin(event[TIME], replica.partition, MISSED_REIGN))
