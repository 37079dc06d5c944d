"""What decided a failure, read from its history: leader epochs that a broker skipped, faults that held one back, what cut a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Elect
from tidemark.checkers.replicas.stuck import STUCK
from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.report.fault_words import in_general
from tidemark.harness.report.lanes import Lane, Span, lanes_of
from tidemark.harness.report.story import partition_of
from tidemark.harness.report.words import listed, seconds

MOST: Final = 6
_DIGITS: Final = 3
LATE_US: Final = 50_000
"""Who hears of an election later than this heard late: without faults it takes a few ms."""


def decisive_conditions(history: History, anomaly: Anomaly) -> list[str]:
    """What decided an anomaly, each in a sentence; nothing of a history without a trace."""
    partition = partition_of(history, anomaly)
    if not history.trace or not partition:
        return []
    if anomaly.name == STUCK:
        return [str(sentence) for sentence in anomaly.evidence.get("because", ())][:MOST]
    lanes = lanes_of(history, partition, anomaly.evidence.get("offset"))
    window = _window(anomaly, lanes)
    heard = [*_skipped(history, partition, lanes, window), *_late(history, partition, lanes, window)]
    return [*_record(anomaly), *heard, *_held_back(anomaly, lanes, window)][:MOST]


def _window(anomaly: Anomaly, lanes: Sequence[Lane]) -> tuple[int, int]:
    """From when to when the story goes, µs: from the record's birth, or from two seconds before, to the anomaly."""
    value = anomaly.evidence.get("value")
    births = [life.start for lane in lanes for life in lane.lives if value is None or life.value == value]
    return min([*births, anomaly.time - 2_000_000], key=lambda at: (not births, at)), anomaly.time


def _record(anomaly: Anomaly) -> Iterator[str]:
    """Who destroyed a lost record, by which rule, and who told it to."""
    evidence = anomaly.evidence
    destroyed: dict[str, Any] | None = evidence.get("destroyed_by")
    if destroyed is None:
        return
    node, offset = destroyed["node"], evidence["offset"]
    if destroyed["event"] == "truncate":
        yield (
            f"Broker {node} cut its log to {destroyed['to']}, below the committed record at offset {offset}, and then led: "
            f"{destroyed['reason']} (leader epoch {destroyed['leader_epoch']})."
        )
    elif destroyed["event"] == "never-had-it":
        yield f"Broker {evidence['leader']} was elected and had never had the committed record at offset {offset}."
    elif destroyed["event"] == "no-replica":
        yield f"Broker {node}, the last leader, has the committed record at offset {offset}, and is no replica any more."
    elif destroyed["event"] == "recovered":
        yield f"Broker {node} came back without the record at offset {offset} (stop: {destroyed.get('after', '?')}), and then led."


def _skipped(history: History, partition: str, lanes: Sequence[Lane], window: tuple[int, int]) -> Iterator[str]:
    """Leader epochs of the controller that a broker never acted on, though it acted on a later one."""
    begin, end = window
    elected = {elect.leader_epoch: (elect.time, elect.leader) for elect in Elect.among(history.trace, partition)}
    for lane in lanes:
        heard = [(term.start, term.epoch) for term in lane.terms if term.start <= end]
        for (_, before), (after_at, after) in pairwise(heard):
            missed = [epoch for epoch in range(before + 1, after) if epoch in elected]
            if not missed or after_at < begin:
                continue
            led = [f"epoch {epoch} ({_who(elected[epoch][1], lane.node)})" for epoch in missed]
            since = elected[missed[0]][0]
            why = _what_held(lane, since, after_at)
            yield (
                f"Broker {lane.node} never heard of leader {listed(led)}: it went from epoch {before} to {after} at "
                f"{seconds(after_at, _DIGITS)}{why}."
            )


def _late(history: History, partition: str, lanes: Sequence[Lane], window: tuple[int, int]) -> Iterator[str]:
    """Leader epochs that a broker acted on, and long after they were elected."""
    begin, end = window
    elected = {elect.leader_epoch: elect.time for elect in Elect.among(history.trace, partition)}
    for lane in lanes:
        late = [
            term for term in lane.terms
            if term.epoch in elected and term.start - elected[term.epoch] > LATE_US and elected[term.epoch] <= end
            and term.start >= begin
        ]  # fmt: skip
        if late:
            since, until = elected[late[0].epoch], late[0].start
            more = f", and of {_times(len(late) - 1)} later on late as well" if len(late) > 1 else ""
            yield (
                f"Broker {lane.node} heard late of leader epoch {late[0].epoch}: at {seconds(until, _DIGITS)}, elected at "
                f"{seconds(since, _DIGITS)}{more}{_what_held(lane, since, until)}."
            )


def _times(epochs: int) -> str:
    return "one" if epochs == 1 else f"{epochs}"


def _who(leader: int, node: int) -> str:
    if leader < 0:
        return "nobody led"
    return "it was to lead itself" if leader == node else f"broker {leader} led"


def _what_held(lane: Lane, since: int, until: int) -> str:
    held = [span for span in lane.spans if span.start <= until and span.end >= since]
    return f"; {listed(list(dict.fromkeys(_held(span) for span in held)))} meanwhile" if held else ""


def _held(span: Span) -> str:
    return {"stopped": f"it was down ({span.label})", "paused": "it was paused"}.get(
        span.kind, f"{span.label} struck it"
    )


def _held_back(anomaly: Anomaly, lanes: Sequence[Lane], window: tuple[int, int]) -> Iterator[str]:
    """Faults on those whom the anomaly is about, while its story went on."""
    begin, end = window
    evidence = anomaly.evidence
    names = ("leader", "follower", "committed_by", "node")
    about = {evidence[name] for name in names if isinstance(evidence.get(name), int)}
    if isinstance(evidence.get("destroyed_by"), dict):
        about.add(evidence["destroyed_by"]["node"])
    for lane in lanes:
        if lane.node not in about:
            continue
        for span in lane.spans:
            if span.start > end or span.end < begin:
                continue
            until = "the end" if span.end > end else seconds(span.end, _DIGITS)
            when = f"from {seconds(span.start, _DIGITS)} to {until}"
            if span.kind == "fault":
                means = in_general(span.label)
                yield f"Broker {lane.node} was under {span.label} {when}{f': {means}' if means else ''}."
            else:
                words = "was paused" if span.kind == "paused" else f"was down ({span.label})"
                yield f"Broker {lane.node} {words} {when}."
