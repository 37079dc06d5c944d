"""What happened to one record, as numbered moments: the narrative and the picture are both made from this."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tidemark.checkers.clients.aborted_read import NAME as ABORTED_READ
from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME
from tidemark.checkers.objects.workloads.total_queue import NAME as TOTAL_QUEUE
from tidemark.checkers.share_group import NAMES as OF_SHARE_GROUPS
from tidemark.checkers.verdict.verdict import GRAVITY, Anomaly, Verdict
from tidemark.harness.report.fault_words import in_general
from tidemark.harness.report.lanes import Lane, lanes_of
from tidemark.harness.report.moments import CONTROLLER, Moment, merged, most_telling
from tidemark.harness.report.story_teller import HOW_ELECTED, StoryTeller
from tidemark.nemesis import KINDS

EASIEST = ("lost-committed-write", "log-matching", "divergence", TOTAL_QUEUE)


@dataclass(frozen=True, slots=True)
class Story:
    """One anomaly of a run, told from the birth of the record to the end of the damage."""

    anomaly: Anomaly
    partition: str
    offset: int | None
    value: object  # the record that is missing or differs; None if the anomaly is not about one
    lanes: tuple[Lane, ...]
    moments: tuple[Moment, ...]  # in order of time, numbered
    left_out: int  # moments that did not fit

    @property
    def words(self) -> list[tuple[str, str]]:
        """Kinds of elections and of faults that the moments name, each with what it means."""
        told = {term for moment in self.moments for term in moment.terms}
        elections = [(name, means) for name, means in HOW_ELECTED.items() if name in told]
        return elections + [(kind, in_general(kind)) for kind in KINDS if kind in told]


def choose_anomaly(verdict: Verdict) -> Anomaly | None:
    """The anomaly that explains the run best: a violation before a permitted one, an acked record before others, then early."""

    def order(anomaly: Anomaly) -> tuple[Any, ...]:
        name = EASIEST.index(anomaly.name) if anomaly.name in EASIEST else len(EASIEST)
        return (
            GRAVITY.index(anomaly.verdict),
            name,
            "offset" not in anomaly.evidence,
            anomaly.evidence.get("ack_time") is None,
            anomaly.time,
        )

    return min(verdict.anomalies, key=order, default=None)


def tell(history: History, anomaly: Anomaly, deciding: Collection[int] = ()) -> Story:
    """The story of one anomaly; `deciding` has the places in the plan of the faults that decided, which are told and marked."""
    evidence = anomaly.evidence
    partition, offset, value = same_story(history, anomaly)
    lanes = lanes_of(history, partition, offset)
    teller = StoryTeller(history, partition, offset, value, lanes, _pair(evidence), deciding)
    found = sorted([*teller.moments(), *_discovery(anomaly, lanes)], key=lambda moment: moment.time)
    damage = [moment.time for moment in found if moment.rank == 0 and not moment.decided]
    start = min(damage) if offset is not None and damage else anomaly.time - 2_000_000
    if history.meta.get("untold"):
        start = 0  # little is seen between the faults and the logs at the end
    start = min([start, *(moment.time for moment in found if moment.decided)])
    # What was read and must not be is all the damage that there is.
    seen = anomaly.name in (ABORTED_READ, *OF_SHARE_GROUPS)
    end = anomaly.time if seen else max(damage, default=anomaly.time)
    found = [moment for moment in found if moment.rank == 0 or start <= moment.time <= end]
    chosen = most_telling(found)
    numbered = tuple(replace(moment, number=number) for number, moment in enumerate(chosen, 1))
    return Story(anomaly, partition, offset, value, tuple(lanes), numbered, len(merged(found)) - len(chosen))


def same_story(history: History, anomaly: Anomaly) -> tuple[str, int | None, object]:
    """What an anomaly is about: its partition, the offset, and the record."""
    evidence = anomaly.evidence
    return partition_of(history, anomaly), evidence.get("offset"), _record(history, evidence)


def partition_of(history: History, anomaly: Anomaly) -> str:
    """Which partition to tell of: the anomaly's, or, of what befell a whole broker, the one it last led or followed before."""
    named = anomaly.partition or str(anomaly.evidence.get("partition", ""))
    node = anomaly.evidence.get("node")
    if named or node is None:
        return named
    before = [
        event for event in history.trace
        if event[NODE] == node and event[KIND] in {"lead", "follow"} and event[TIME] <= anomaly.time
    ]  # fmt: skip
    return str(before[-1][PARTITION]) if before else ""


def all_moments(
    history: History, partition: str, offset: int | None, value: object, deciding: Collection[int] = ()
) -> list[Moment]:
    """Everything that a run's history tells of a record (or, without one, of a partition), by time; `deciding` as of `tell`."""
    teller = StoryTeller(history, partition, offset, value, lanes_of(history, partition, offset), [], deciding)
    return sorted(teller.moments(), key=lambda moment: moment.time)


def _record(history: History, evidence: dict[str, Any]) -> object:
    """The record in question: the lost one, or of two that differ the one a client was told about."""
    if "value" in evidence:
        return evidence["value"]
    pair = _pair(evidence)
    acked = {
        value[1]
        for op in history.ops
        if op.type == "ok" and op.f == "send"
        for _, _, value in op.value
        if isinstance(value, (tuple, list))
    }
    return next((value for value in pair if value in acked), pair[-1] if pair else None)


def _pair(evidence: dict[str, Any]) -> list[object]:
    """The values of the two records that differ, if the anomaly is about two."""
    return [evidence[key][1] for key in ("leader_record", "follower_record") if evidence.get(key)]


def _discovery(anomaly: Anomaly, lanes: list[Lane]) -> Iterator[Moment]:
    """The moment at which the anomaly was there; a loss needs none, for its sentence is the new leader's."""
    evidence = anomaly.evidence
    if _pair(evidence):
        leader, follower = evidence["leader"], evidence["follower"]
        theirs, its = _pair(evidence)
        differs = f"with another record at offset {evidence['offset']}, {its} instead of {theirs}"
        if its is None:
            differs = f"and has nothing at offset {evidence['offset']}, where that has {theirs}"
        elif theirs is None:
            differs = f"and has {its} at offset {evidence['offset']}, where that has nothing"
        words = f"Broker {follower} follows broker {leader} {differs}: {anomaly.name}."
        yield Moment(anomaly.time, follower, "found", words)
    elif "value" not in evidence or anomaly.name == TOTAL_QUEUE:
        node = evidence.get("node", CONTROLLER)
        node = node if node in {lane.node for lane in lanes} else CONTROLLER
        yield Moment(anomaly.time, node, "found", f"The checker finds {anomaly.name}: {anomaly.message}")
