"""`no-leader`, `isr-not-shrunk` and `not-acknowledged`: what did not go on while faults struck others; and what else is judged in
the same pass, by how long it was so.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(times=times, replicas={"t-0": [1, 2]}, trace=[
...     (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
...     (50, 1, "stop", "", "crash"),
...     (90, 2, "append", "t-0", 0, 0, (7,)),
... ], nemesis=[(50, "strike", 0, "crash", {"node": 1, "nodes": [1]})]))
>>> print(verdict.anomalies[0].message)
t-0 has had no leader from 0.000050 s to 0.000090 s, though broker 2 of the ISR was well all the time, and so was the controller: \
0.000040 s, where 0.000023 s would do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.min_isr import MinIsr
from tidemark.checkers.history.trace_events import KIND, PARTITION, TIME, Reassign, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.calm import EVERYWHERE, all_well, calm_spans
from tidemark.checkers.replicas.liveness.election_not_held import election_not_held, orders
from tidemark.checkers.replicas.liveness.hw_not_advanced import Committing, committing, not_advanced
from tidemark.checkers.replicas.liveness.isr_shrunk_early import shrunk_early
from tidemark.checkers.replicas.liveness.log_ends import LogEnds
from tidemark.checkers.replicas.liveness.nobody_leads import NAME as NO_LEADER
from tidemark.checkers.replicas.liveness.nobody_leads import Able, may_elect, nobody_leads
from tidemark.checkers.replicas.liveness.not_let_in import Following, following, not_let_in
from tidemark.checkers.replicas.liveness.not_served import in_vain, not_served
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.unanswered import NAME as NOT_ACKNOWLEDGED
from tidemark.checkers.replicas.liveness.unanswered import answering, given_up, in_calm, too_soon_or_late, unanswered
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

ISR_NOT_SHRUNK = "isr-not-shrunk"

Waiting = tuple[str, int]
"""A partition without a leader, and a broker that could be it."""
Gone = tuple[str, int, int]
"""A partition, a member of the ISR that tells the controller nothing any more, and since when."""
Lagging = tuple[str, int, int, int]
"""A partition, its leader, the leader's epoch, and another member of the ISR."""


def check_liveness(history: History, points: Sequence[TurningPoint], *, gave_up: bool = True) -> list[Anomaly]:
    """All of them, over one history with a trace, of which `points` are the turning points; none if its meta line does not tell the
    run's settings.

    `gave_up`: whether there are sends that did not succeed.
    """
    bounds = Bounds.of(history.meta)
    replicas: Mapping[str, Sequence[int]] = history.meta.get("replicas") or {}
    if bounds is None or not replicas or not history.trace:
        return []
    events = [event for _, event in points]
    moved = [one.replicas for one in Reassign.among(events)]
    brokers = sorted({broker for members in (*replicas.values(), *moved) for broker in members})
    state = WhoIsWell(events, history.nemesis, brokers, history.meta.get("holds_back"), replicas)
    waiting, lagging, gone, calm = Spans[Waiting](), Spans[Lagging](), Spans[Gone](), Spans[str]()
    followed, committed, well, quiet = Spans[Following](), Spans[Committing](), Spans[int](), Spans[str]()
    able, staying = Spans[Able](), Spans[int]()
    one_clock = history.meta.get("world", "sim") == "sim"
    min_isr = MinIsr.of(history).most
    has_isr, patience = history.meta.get("isr", True), int(history.meta.get("patience_us", 0))
    timed_out = given_up(history.ops) if one_clock else []
    requests = [one for one in timed_out if one.is_committed_first]
    sends = too_soon_or_late(timed_out, bounds, patience_us=patience, has_isr=has_isr)
    polls = in_vain(history.ops, bounds, read_back=history.meta.get("read_back") is not False) if one_clock else []
    asked = orders(history.nemesis, replicas) if one_clock else []
    for time in state.moments():
        judged = state.controller_well()
        waiting.now(_waiting(state) if judged else [], time)
        lagging.now(_lagging(state, one_clock=one_clock) if judged else [], time)
        gone.now(_gone(state) if judged else [], time)
        if not has_isr:
            able.now(may_elect(state) if judged else [], time)
        if gave_up:
            calm.now(_calm(state, min_isr) if judged else [], time)
        if requests:
            well.now(answering(state), time)
        if polls or sends or asked:
            quiet.now(all_well(state), time)
        if one_clock:
            followed.now([*following(state)] if judged else [], time)
            staying.now(state.staying(), time)
            committed.now([*committing(state, min_isr)] if judged else [], time)
    end = max(history.trace[-1][TIME], int(history.meta.get("end_us", 0)))
    for spans in (waiting, lagging, gone, calm, followed, committed, well, quiet, able, staying):
        spans.end(end)
    ends = LogEnds(history.trace)
    calms = calm_spans(events, quiet, replicas, end) if quiet.closed else {}
    carried_out = [*unanswered(requests, history.trace, replicas, well, bounds)]
    told = {(one.evidence["process"], one.evidence["until"]) for one in carried_out}
    return [
        *_no_leader(waiting, bounds),
        *nobody_leads(events, able, bounds, replicas, end),
        *_not_shrunk(lagging, bounds, ends, events, one_clock=one_clock),
        *_not_taken_out(gone, bounds),
        *_not_acknowledged(calm, bounds, history.ops, told),
        *not_advanced(committed, bounds, ends),
        *not_let_in(followed, bounds, ends),
        *shrunk_early(followed, staying, bounds, ends, events),
        *carried_out,
        *(one for one in in_calm(sends, calms, bounds) if (one.evidence["process"], one.evidence["until"]) not in told),
        *election_not_held(asked, events, calms, bounds, replicas, has_isr=has_isr),
        *not_served(polls, calms.get(EVERYWHERE, ()), bounds),
    ]


def _waiting(state: WhoIsWell) -> list[Waiting]:
    return [
        (partition, member)
        for partition, (leader, _) in state.elected.items()
        if leader < 0 or leader in state.down
        for member in state.life.isrs[partition]
        if member in state.well
        and not state.lost_its_log(member, partition)
        and state.life.is_replica(partition, member)
    ]


def _lagging(state: WhoIsWell, *, one_clock: bool) -> list[Lagging]:
    """Where several machines wrote the trace, only members that cannot fetch: their log ends may be told late."""
    return [
        (partition, leader, epoch, member)
        for partition, (leader, epoch) in state.elected.items()
        if leader in state.well
        for member in state.life.isrs[partition]
        if member != leader
        and (one_clock or state.fetches_nothing(member))
        and state.life.is_replica(partition, member)
    ]


def _gone(state: WhoIsWell) -> list[Gone]:
    """Where the ISR has another member that is well: its last one may stay. A leader goes with an election."""
    return [
        (partition, member, state.silent_since[member])
        for partition, (leader, _) in state.elected.items()
        for member in state.life.isrs[partition]
        if member != leader and member in state.silent_since and not state.well.isdisjoint(state.life.isrs[partition])
        if not state.faults.delays(member)
        if state.life.is_replica(partition, member)
    ]


def _calm(state: WhoIsWell, min_isr: int) -> list[str]:
    """Partitions whose ISR is well, while every other broker is well too or has no process: one that lives, and is cut off, may
    tell clients of a leader of old.
    """
    for broker in state.brokers:
        if broker not in state.down and broker not in state.well:
            return []
    return [
        partition
        for partition, (leader, _) in state.elected.items()
        if leader in state.well and len(isr := state.life.isrs[partition]) >= min_isr and state.well.issuperset(isr)
    ]


def _no_leader(waiting: Spans[Waiting], bounds: Bounds) -> Iterator[Anomaly]:
    told: dict[str, Span] = {}
    for (partition, member), span in sorted(waiting.closed, key=lambda one: (one[1], one[0])):
        before = told.get(partition)
        if span.length_us <= bounds.elect_us or (before is not None and span.begin < before.end):
            continue
        told[partition] = span
        message = (
            f"{partition} has had no leader from {seconds(span.begin)} to {seconds(span.end)}, though broker {member} of the ISR "
            f"was well all the time, and so was the controller: {seconds(span.length_us)}, where {seconds(bounds.elect_us)} "
            "would do."
        )
        yield _anomaly(NO_LEADER, partition, message, span, bounds.elect_us, {"candidate": member})


def _not_shrunk(
    lagging: Spans[Lagging], bounds: Bounds, ends: LogEnds, events: Sequence[TraceEvent], *, one_clock: bool
) -> Iterator[Anomaly]:
    """A follower has caught up when it asks for more than the leader had by its last request, so never after what it lacks.

    What a leader asks while the partition changes otherwise is refused for its version; the leader asks again when it looks again.
    """
    changes = defaultdict(list)
    for event in events:
        if event[KIND] in ("isr-change", "reassign"):
            changes[event[PARTITION]].append(event[TIME])
    for (partition, leader, epoch, member), span in sorted(lagging.closed, key=lambda one: (one[1], one[0])):
        if span.length_us <= bounds.shrink_us:
            continue
        led = [led for led, part in ends.parts(partition, leader, span) if part == (leader, epoch, True)][:1]
        stood = [
            (*one, led[0].begin)
            for one in (ends.ends_still(partition, member, led[0], bounds.shrink_us) if led else ())
        ]
        for still, end, began in stood:
            offset = end if one_clock else max(end, ends.end_at(partition, leader, still.begin))
            appended = ends.beyond(partition, leader, offset, still.end)
            if appended is None:
                continue
            since = Span(max(appended, began), still.end)
            refused = sum(since.begin < time < since.end for time in changes[partition])
            bound = bounds.shrink_us + refused * (bounds.lag_us // 2)
            if since.length_us <= bound:
                continue
            message = (
                f"Broker {member} stayed in the ISR of {partition} from {seconds(since.begin)} to {seconds(since.end)}, though "
                f"it did not have what broker {leader}, which led, had at offset {offset}: {seconds(since.length_us)}, where "
                f"{seconds(bound)} would do."
            )
            evidence = {"leader": leader, "leader_epoch": epoch, "member": member, "offset": offset}
            yield _anomaly(ISR_NOT_SHRUNK, partition, message, since, bound, evidence)
            break


def _not_taken_out(gone: Spans[Gone], bounds: Bounds) -> Iterator[Anomaly]:
    """The controller takes a broker out of every ISR when its session ends (``ReplicationControlManager.handleBrokerFenced``; with
    ZooKeeper ``ReplicaStateMachine``, *OfflineReplica*). One that takes over with ZooKeeper does not ask who had gone before.
    """
    for (partition, member, since), span in sorted(gone.closed, key=lambda one: (one[1], one[0])):
        if span.begin == since and span.length_us > bounds.leave_us:
            message = (
                f"Broker {member} stayed in the ISR of {partition} from {seconds(span.begin)} to {seconds(span.end)}, though it "
                f"was stopped or paused, and the controller was well: {seconds(span.length_us)}, where {seconds(bounds.leave_us)} "
                "would do."
            )
            yield _anomaly(ISR_NOT_SHRUNK, partition, message, span, bounds.leave_us, {"member": member})


def _not_acknowledged(
    calm: Spans[str], bounds: Bounds, ops: Sequence[Op], told: Collection[tuple[str, int]]
) -> Iterator[Anomaly]:
    """Sends that timed out though nothing was wrong for as long as a send may take, and a new leader before it; but those that are
    told already, by process and end.
    """
    longest: dict[str, list[Span]] = {}
    for partition, span in calm.closed:
        if span.length_us > bounds.send_us:
            longest.setdefault(partition, []).append(span)
    if not longest:
        return
    begun: dict[str, int] = {}
    for op in ops:
        if op.f != "send":
            continue
        if op.type == "invoke":
            begun[op.process] = op.time
            continue
        since = Span(begun.pop(op.process, op.time), op.time)
        if (op.process, op.time) in told:
            continue
        keys = {micro[1] for micro in op.value or ()}
        spans = [_around(since, longest.get(key, ()), bounds) for key in keys]
        if op.type == "ok" or since.length_us < bounds.give_up_us or not spans or None in spans:
            continue
        key = min(keys)
        calm_since = max(span.begin for span in spans if span is not None)
        message = (
            f"A send to {key} by {op.process} at {seconds(since.begin)} was not acknowledged by {seconds(since.end)}, though "
            f"nothing was wrong with anybody since {seconds(calm_since)}."
        )
        evidence = {"process": op.process, "error": op.error, "calm_since": calm_since}
        yield _anomaly(NOT_ACKNOWLEDGED, key, message, since, bounds.send_us, evidence)


def _around(since: Span, spans: Sequence[Span], bounds: Bounds) -> Span | None:
    """The span that began long enough before an operation, and lasted until its end."""
    return next((one for one in spans if one.begin + bounds.send_us <= since.begin and since.end <= one.end), None)


def _anomaly(
    name: str, partition: str, message: str, span: Span, bound_us: int, evidence: Mapping[str, Any]
) -> Anomaly:
    """Of the time at which it was over the bound."""
    told = {**evidence, "since": span.begin, "until": span.end, "bound_us": bound_us}
    return Anomaly(name, VIOLATION, span.begin + min(bound_us, span.length_us), partition, message, evidence=told)
