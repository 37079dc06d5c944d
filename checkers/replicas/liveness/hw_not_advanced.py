"""`hw-not-advanced`: a leader's high watermark stood still, though all whom it has to wait for had more.

A leader's high watermark is the least log end of the leader, of the ISR, and of replicas that are about to join it: those that
had all within ``replica.lag.time.max.ms`` (``Partition.maybeIncrementLeaderHW``). It is looked at with each fetch that brings a
log end, and whenever the ISR has changed (KAFKA-13091). So a follower that is gone holds it up no longer than that time, and
nobody else does once he has a record and has fetched again.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(times=times, replicas={"t-0": [1, 2]}, trace=[
...     (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
...     (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
...     (1, 2, "follow", "t-0", 0, 1, 0, 0),
...     (2, 2, "fetched", "t-0", 0, 1),
...     (5, 1, "append", "t-0", 0, 0, (7,)),
...     (9, 2, "append", "t-0", 0, 0, (7,)),
...     (40, 1, "hw", "t-0", 1, 0, True),
... ]))
>>> print(verdict.anomalies[0].message)
The high watermark of broker 1, which leads t-0, stood at 0 from 0.000009 s to 0.000040 s, though all whom it has to wait for \
(1, 2) had more: 0.000031 s, where 0.000013 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.log_ends import LogEnds
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "hw-not-advanced"


class Committing(NamedTuple):
    """A partition whose leader has to commit: in which epoch, what those that are well have, and since when all others that it may
    wait for are away.
    """

    partition: str
    leader: int
    epoch: int
    holders: tuple[int, ...]
    away_since: int


def committing(state: WhoIsWell, min_isr: int) -> Iterator[Committing]:
    """Those of a moment: leader and ISR are well, and everybody else is or cannot fetch."""
    for partition, (leader, epoch) in state.elected.items():
        isr = state.life.isrs[partition]
        if leader not in isr or len(isr) < min_isr or not state.well.issuperset(isr):
            continue
        others = [broker for broker in state.replicas(partition) if broker not in isr]
        away = [broker for broker in others if broker not in state.well]
        if all(map(state.fetches_nothing, away)):
            holders = sorted({*isr, *others} - {*away})
            yield Committing(partition, leader, epoch, tuple(holders), max(map(state.away_since, away), default=0))


def not_advanced(spans: Spans[Committing], bounds: Bounds, ends: LogEnds) -> Iterator[Anomaly]:
    """Once for each reign."""
    told: set[tuple[str, int]] = set()
    for one, span in sorted(spans.closed, key=lambda closed: (closed[1], closed[0])):
        if span.length_us <= bounds.advance_us or (one.partition, one.epoch) in told:
            continue
        gone = one.away_since + bounds.lag_us if one.away_since else 0
        for still, hw in ends.marks_still(one.partition, one.leader, one.epoch, span, bounds.advance_us):
            had = [_had(ends, one, holder, hw, still) for holder in one.holders]
            times = [time for time in had if time is not None]
            since = Span(max(still.begin, gone, *times), still.end)
            if len(times) < len(had) or since.length_us <= bounds.advance_us:
                continue
            told.add((one.partition, one.epoch))
            message = (
                f"The high watermark of broker {one.leader}, which leads {one.partition}, stood at {hw} from "
                f"{seconds(since.begin)} to {seconds(since.end)}, though all whom it has to wait for "
                f"({', '.join(map(str, one.holders))}) had more: {seconds(since.length_us)}, where "
                f"{seconds(bounds.advance_us)} would do."
            )
            evidence = {
                "leader": one.leader,
                "leader_epoch": one.epoch,
                "hw": hw,
                "holders": one.holders,
                "since": since.begin,
                "until": since.end,
                "bound_us": bounds.advance_us,
            }
            time = since.begin + bounds.advance_us
            yield Anomaly(NAME, VIOLATION, time, one.partition, message, evidence=evidence)
            break


def _had(ends: LogEnds, one: Committing, holder: int, hw: int, still: Span) -> int | None:
    """Since when a replica has had more than the high watermark in this epoch, until the end of a span; `None` if it has not."""
    parts = [*ends.parts(one.partition, holder, still)]
    if not parts:
        return None
    (since, until), part = parts[-1]
    if (part.leader, part.epoch, part.taken, until) != (one.leader, one.epoch, True, still.end):
        return None
    more = ends.beyond(one.partition, holder, hw, still.end)
    return None if more is None else max(since, more)
