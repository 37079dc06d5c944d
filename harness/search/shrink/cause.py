"""Why an anomaly came about, in words without the run's own numbers, so that two runs can be compared.

A smaller plan that shows an anomaly of the same name need not show the same bug: a record can be lost by a truncation or by a disk,
a partition be stuck for five reasons. So what counts as *the same* is a `Cause`: name, verdict, and facts derived from the
evidence and the trace.

Facts of
  a loss (`lost-committed-write`): what took the record from the later leader (a truncation, with the rule's reason, and whether the
    leader it was told by was deposed, or had not heard that it leads; a recovery, after which stop; a moved log start; or that it
    never had it); whence that leader was elected; whether the record was committed by a leader that was deposed, though a
    member of its ISR lacked it, and while the controller's ISR was below min ISR; whether copies went with a reassignment that was
    cancelled;
  what follows from a loss (`leader-completeness`, `lost-write`, `truncated-under-consumer` …): those of the loss;
  `divergence` and `log-matching`: what the follower did to its log since it heard of the epoch; which of the two records is of the
    newer epoch; whether one of the two had lost records in a recovery;
  `broker-stopped`: what it said, and how the leader came to have less;
  `stuck`: each sentence that explains it is a cause of its own, and has the facts of what it tells of;
  any other: the anomaly's own sentence;
and of each the origins that its partition had seen by then (:mod:`tidemark.harness.search.shrink.origin`).

Numbers, names of brokers and times become `N`. Sentences are those of the checkers and of the trace (docs/history.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.checkers import Anomaly, History, Verdict
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Elect,
    Follow,
    Isr,
    Lead,
    LogStart,
    MinIsr,
    OutOfOrder,
    Reassign,
    Recovered,
    Stop,
    TraceEvent,
    Truncate,
)
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.lost_committed_write import NAME as LOST
from tidemark.checkers.replicas.replay import replay
from tidemark.checkers.replicas.replayed_replica import HOLE, ReplayedReplica, ReplayedReplicas
from tidemark.checkers.replicas.stuck import BROKER_STOPPED, STUCK
from tidemark.checkers.verdict.alike import without_numbers
from tidemark.harness.search.shrink.origin import origins_of

FOLLOWS_FROM_LOSS = frozenset(
    {
        "leader-completeness", "truncated-under-consumer", "stale-read-below-hw", "lost-write", "inconsistent-offsets",
        "hw-regression",
    }
)  # fmt: skip
"""What may be a loss seen from another side."""

REMOVED_LEADER = ", and that led again by a late word after its replica had been removed"
UNHEARD_SHRINK = "it was committed while the ISR was below min ISR, of which its leader had not heard"
UNHEARD_MIN_ISR = "it was committed by a leader that had not heard that min ISR had been raised"
CANCELLED = "a reassignment that was cancelled since took copies of it, and left an ISR below min ISR"
AT_LOG_START = "its log ends where its leader's begins"

_Say = Callable[[str], str]
"""How a sentence of the run is told: without its numbers, or as it is."""
_WITHOUT_LEADER = ("to high watermark", "no epochs known")
"""Reasons of truncations that no leader's answer had a part in."""
_BEYOND = re.compile(r"leader's log end (\d+) is below")


@dataclass(frozen=True, slots=True)
class Cause:
    """An anomaly and why it came about; equal causes are the same bug, as far as the evidence tells.

    Attributes:
        name, verdict, clause: the anomaly's.
        facts: sentences' parts, in an order of their own.
    """

    name: str
    verdict: str
    clause: str | None
    facts: tuple[str, ...]

    def __str__(self) -> str:
        """In a line."""
        return f"{self.name}: {'; '.join(self.facts)}"


def causes_of(anomaly: Anomaly, verdict: Verdict, history: History) -> tuple[Cause, ...]:
    """The causes of an anomaly, the one to go by first: mostly one, of `stuck` one for each sentence that explains it."""
    told = [facts for facts in _facts(anomaly, verdict, history) if facts]
    told = told or [(without_numbers(anomaly.message),)]
    until = max(anomaly.time, anomaly.evidence.get("commit_time") or 0)
    began = dict.fromkeys(
        one.sentence
        for one in origins_of(history, verdict)
        if one.time <= until and anomaly.partition in (one.partition, "")
    )
    return tuple(
        dict.fromkeys(Cause(anomaly.name, anomaly.verdict, anomaly.clause, (*facts, *began)) for facts in told)
    )


def facts_with_numbers(anomaly: Anomaly, verdict: Verdict, history: History) -> tuple[str, ...]:
    """The facts of an anomaly's first cause, with the run's own brokers, epochs and times in them: to tell of this one run.

    Nothing if there are none but the anomaly's own sentence.
    """
    return next((facts for facts in _facts(anomaly, verdict, history, str) if facts), ())


def _facts(
    anomaly: Anomaly, verdict: Verdict, history: History, say: _Say = without_numbers
) -> Iterator[tuple[str, ...]]:
    evidence, trace = anomaly.evidence, history.trace
    if anomaly.name == LOST and "destroyed_by" in evidence:
        yield _of_loss(anomaly, history, say)
    elif anomaly.name in FOLLOWS_FROM_LOSS:
        loss = _loss_behind(anomaly, verdict)
        if loss is not None:
            yield _of_loss(loss, history, say)
    elif "follower_record" in evidence and trace:
        yield _of_difference(anomaly, trace, say)
    elif anomaly.name == STUCK:
        differences = [one for one in verdict.anomalies if "follower_record" in one.evidence]
        for sentence in evidence.get("because", ()):
            behind = next((one for one in differences if one.message == sentence), None)
            stop = next((one for one in verdict.named(BROKER_STOPPED) if one.message == sentence), None)
            if behind is not None:
                yield _of_difference(behind, trace, say)
            elif stop is not None:
                yield _of_giving_up(stop, trace, say)
            else:
                yield say(sentence), *_of_refusal(sentence, anomaly.partition, trace)
    elif anomaly.name == BROKER_STOPPED and trace:
        yield _of_giving_up(anomaly, trace, say)


def _loss_behind(anomaly: Anomaly, verdict: Verdict) -> Anomaly | None:
    """The loss that an anomaly is another side of: of the same record if it names one, else of the same time, else any there."""
    losses = [
        one for one in verdict.named(LOST) if one.partition == anomaly.partition and "destroyed_by" in one.evidence
    ]
    values = [anomaly.evidence.get("value"), *anomaly.evidence.get("values", ())]
    same = [one for one in losses if one.evidence["value"] in values] or [
        one for one in losses if one.time == anomaly.time
    ]
    return next(iter(same or losses), None)


def _of_loss(loss: Anomaly, history: History, say: _Say) -> tuple[str, ...]:
    evidence, trace = loss.evidence, history.trace
    facts = [_destruction(evidence["destroyed_by"], loss.partition, trace, say)]
    if _came_back(evidence["leader"], loss.partition, loss.time, trace):
        facts[0] += REMOVED_LEADER
    if (election := _election(loss.partition, evidence["leader_epoch"], trace)) is not None:
        facts.append(election)
    committed = evidence["commit_time"] if evidence["committed_by"] is not None else None
    if committed is not None:
        if _newest_epoch(loss.partition, committed, trace) > evidence["commit_epoch"]:
            back = _came_back(evidence["committed_by"], loss.partition, committed, trace)
            facts.append(f"it was committed by a leader that had been deposed{REMOVED_LEADER if back else ''}")
        index = _commit(loss, committed, trace)
        isr = _own_isr(evidence["committed_by"], loss.partition, trace[:index])
        if _lacked(loss, isr, trace[:index]):
            facts.append("it was committed though a member of the leader's ISR lacked it")
        if _cancelled(loss, committed, history):
            facts.append(CANCELLED)
        changes = [*MinIsr.among(trace[:index])]
        enough = changes[-1].min_isr if changes else history.meta.get("min_isr", 0)
        if len(_isr(loss.partition, trace[:index])) < enough <= len(isr):
            facts.append(UNHEARD_SHRINK)
        if changes and len(isr) < enough:
            facts.append(UNHEARD_MIN_ISR)
    else:
        facts.append("it was acknowledged and never below a high watermark")
    return tuple(facts)


def _destruction(destroyed_by: dict[str, Any], partition: str, trace: Sequence[TraceEvent], say: _Say) -> str:
    event = destroyed_by["event"]
    if event == "never-had-it":
        return "the later leader never had the record"
    if event == "truncate":
        reason = say(destroyed_by["reason"])
        unasked = reason.startswith(_WITHOUT_LEADER)
        told = "" if unasked else _told_by(destroyed_by["node"], partition, destroyed_by["trace_index"], trace)
        return f"the later leader had cut it from its log ({reason}{told})"
    if event == "recovered":
        return f"the later leader's recovery after stop {destroyed_by['after']} left too little"
    if event == "no-replica":
        return "a reassignment had taken away the last leader, which has it"
    if event == "log-start":
        return f"the later leader's log start had moved beyond it ({destroyed_by['how']})"
    return f"the later leader had lost it by the event {event}"


def _told_by(node: int, partition: str, index: int, trace: Sequence[TraceEvent]) -> str:
    """Whether the leader that a replica followed at ``trace[index]`` was deposed, or had not heard yet that it leads (KIP-320)."""
    before = trace[:index]
    followed = next((one for one in Follow.among(reversed(before), partition) if one.node == node), None)
    if followed is None:
        return ""
    epoch = followed.leader_epoch
    if not any(one.node == followed.leader and one.leader_epoch == epoch for one in Lead.among(before, partition)):
        return ", told by a leader that had not heard of that epoch"
    deposed = _newest_epoch(partition, trace[index][TIME], trace) > epoch
    return ", told by a leader that had been deposed" if deposed else ""


def _newest_epoch(partition: str, time: int, trace: Sequence[TraceEvent]) -> int:
    """The newest leader epoch that the controller had chosen before a time; −1 if there was none."""
    return max((one.leader_epoch for one in Elect.among(trace, partition) if one.time < time), default=-1)


def _election(partition: str, epoch: int, trace: Sequence[TraceEvent]) -> str | None:
    """Whence the leader of an epoch was elected."""
    life = IsrLife(trace)
    for event in trace:
        if event[KIND] == "elect" and event[PARTITION] == partition and Elect(event).leader_epoch == epoch:
            leader = Elect(event).leader
            if leader in life.isrs.get(partition, (leader,)):
                return "which was elected from the ISR"
            if leader in life.elrs.get(partition, ()):
                return "which was elected from the ELR"
            return "which was elected from outside ISR and ELR"
        life.step(event)
    return None


def _came_back(node: int, partition: str, time: int, trace: Sequence[TraceEvent]) -> bool:
    """Whether a leader began to lead after its replica had been removed, by a word older than the newest epoch of that moment."""
    own = [
        one
        for one in trace
        if one[NODE] == node and one[PARTITION] == partition and one[KIND] in ("removed", "lead", "follow")
    ]
    before = [one for one in own if one[TIME] <= time]
    if len(before) < 2 or before[-1][KIND] != "lead" or before[-2][KIND] != "removed":
        return False
    return Lead(before[-1]).leader_epoch < _newest_epoch(partition, before[-1][TIME], trace)


def _of_refusal(sentence: str, partition: str, trace: Sequence[TraceEvent]) -> Iterator[str]:
    """Where in its leader's log a follower stands that refuses a batch, if that is what a sentence of `stuck` tells."""
    refused = [one for one in OutOfOrder.among(trace, partition) if f"Broker {one.node} refuses" in sentence]
    if refused:
        node, leo, time = refused[0].node, refused[0].leo, refused[0].time
        leader = next(
            (one.leader for one in Follow.among(reversed(trace), partition) if one.node == node and one.time <= time),
            -1,
        )
        starts = [one.start for one in LogStart.among(trace, partition) if one.node == leader and one.time <= time]
        if starts and starts[-1] == leo:
            yield AT_LOG_START


def _commit(loss: Anomaly, committed: int, trace: Sequence[TraceEvent]) -> int:
    """Where in the trace the high watermark of the committing leader passes the record; 0 if that is not told."""
    moment = (committed, loss.evidence["committed_by"], "hw", loss.partition)
    return next((i for i, one in enumerate(trace) if one[: PARTITION + 1] == moment), 0)


def _own_isr(leader: int, partition: str, before: Sequence[TraceEvent]) -> Sequence[int]:
    """The ISR that a leader goes by."""
    isr: Sequence[int] = ()
    for one in before:
        if one[NODE : PARTITION + 1] == (leader, "lead", partition):
            isr = Lead(one).isr
        elif one[NODE : PARTITION + 1] == (leader, "isr", partition):
            isr = Isr(one).isr
    return isr


def _isr(partition: str, before: Sequence[TraceEvent]) -> Sequence[int]:
    """The controller's."""
    life = IsrLife(before)
    for one in before:
        life.step(one)
    return life.isrs.get(partition, ())


def _cancelled(loss: Anomaly, committed: int, history: History) -> bool:
    """Whether, since then, a reassignment was cancelled and its partition's ISR had enough members before and has not after it."""
    enough, partition = history.meta.get("min_isr", 0), loss.partition
    life, told, before = IsrLife(history.trace), False, 0
    for event in history.trace:
        if event[TIME] > loss.time:
            break
        if event[PARTITION] == partition and event[KIND] == "reassign":
            order = Reassign(event)
            before = len(life.isrs.get(partition, ())) if told and not order.adding and event[TIME] >= committed else 0
            told = bool(order.adding)
        life.step(event)
        if before and event[PARTITION] == partition and event[KIND] in ("elect", "isr-change"):
            if len(life.isrs[partition]) < enough <= before:
                return True
            before = 0
    return False


def _lacked(loss: Anomaly, isr: Sequence[int], before: Sequence[TraceEvent]) -> bool:
    """Whether a member of an ISR lacks the record."""
    offset, record = loss.evidence["offset"], (loss.evidence["epoch"], loss.evidence["value"])
    replicas = replay(before, ())
    return any(not replicas.at(member, loss.partition).has(offset, record) for member in isr)


def _of_difference(anomaly: Anomaly, trace: Sequence[TraceEvent], say: _Say) -> tuple[str, ...]:
    evidence = anomaly.evidence
    partition, follower, leader = anomaly.partition, evidence["follower"], evidence["leader"]
    before = trace[: evidence["trace_index"] + 1]
    theirs, its = evidence["leader_record"][0], evidence["follower_record"][0]
    facts = [
        _what_it_did(follower, partition, evidence["leader_epoch"], before, say),
        "it has no record there"
        if its == HOLE[0]
        else f"its record is of {'an older' if its < theirs else 'a newer' if its > theirs else 'the same'} epoch",
    ]
    if any(one.node in (follower, leader) and one.lost for one in Recovered.among(before, partition)):
        facts.append("one of the two had lost records in a recovery")
    return tuple(facts)


def _what_it_did(node: int, partition: str, epoch: int, before: Sequence[TraceEvent], say: _Say) -> str:
    """What a follower did to its log since it heard of a leader epoch."""
    own = [(i, one) for i, one in enumerate(before) if one[NODE] == node and one[PARTITION] == partition]
    heard = [i for i, one in own if one[KIND] == "follow" and Follow(one).leader_epoch == epoch]
    if not heard:
        return "the follower had not heard of the leader's epoch"
    since = [i for i, _ in own if i >= heard[-1]]
    cuts = [i for i in since if before[i][KIND] == "truncate"]
    if cuts:
        reason = say(Truncate(before[cuts[-1]]).reason)
        told = "" if reason.startswith(_WITHOUT_LEADER) else _told_by(node, partition, cuts[-1], before)
        return f"the follower had cut its log, and not far enough ({reason}{told})"
    asked = any(before[i][KIND] == "ask" for i in since)
    return (
        f"the follower had {'asked its leader, and cut nothing' if asked else 'cut nothing of its log, and not asked'}"
    )


def _of_giving_up(stop: Anomaly, trace: Sequence[TraceEvent], say: _Say) -> tuple[str, ...]:
    words = stop.evidence["words"]
    facts = [f"it gave up: {say(words)}"]
    below = _BEYOND.search(words)
    index = stop.evidence.get("trace_index")
    if below is not None and index is not None:
        facts.append(_why_shorter(stop, int(below.group(1)), trace[: index + 1], say))
    return tuple(facts)


def _why_shorter(stop: Anomaly, leo: int, before: Sequence[TraceEvent], say: _Say) -> str:
    """How the leader of a broker that gave up came to have less than that."""
    node = stop.evidence["node"]
    followed = [one for one in Follow.among(before, stop.partition or None) if one.node == node]
    if not followed:
        return "its leader is not known"
    partition, leader = followed[-1].partition, followed[-1].leader
    cut = _last_cut_at(leo, replay(before, ()), leader, partition)
    if cut is None:
        return "its leader never had more"
    event = before[cut]
    if event[KIND] == "truncate":
        return f"its leader had cut its own log ({say(Truncate(event).reason)})"
    if event[KIND] == "recovered":
        how = [one.how for one in Stop.among(before[:cut]) if one.node == leader]
        return f"its leader's recovery after stop {how[-1] if how else '?'} left less"
    return f"its leader had lost records by the event {event[KIND]}"


def _last_cut_at(offset: int, replicas: ReplayedReplicas, node: int, partition: str) -> int | None:
    replica: ReplayedReplica | None = replicas.by_place.get((node, partition))
    removals = replica.removals if replica is not None else []
    return next((r.at for r in reversed(removals) if r.to <= offset < r.to + len(r.records)), None)
