"""`not-let-in`: a leader kept out a follower that it has to let in: gave it no good answer in its epoch, or left it out of the ISR
though it had all.

A follower that a leader's epoch has reached is answered: with records, or with where to cut, until both logs agree. One that has
what the leader has committed, and has fetched in this epoch, joins the ISR with its next fetch (``Partition.maybeExpandIsr``), if
it is not fenced (KIP-841); the change of the ISR is asked for again until there is an answer.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(times=times, replicas={"t-0": [1, 2]}, trace=[
...     (0, 0, "elect", "t-0", 1, 0, (1,), (), "initial", True, 0),
...     (1, 1, "lead", "t-0", 0, 0, 0, (1,)),
...     (2, 2, "follow", "t-0", 0, 1, 0, 0),
...     (3, 2, "fetched", "t-0", 0, 1),
...     (40, 0, "isr-change", "t-0", (1, 2), (), 1),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 2 stayed out of the ISR of t-0 from 0.000003 s to 0.000040 s, though it had all that broker 1, which led, had: 0.000037 s, \
where 0.000022 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.log_ends import LogEnds
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "not-let-in"


class Following(NamedTuple):
    """A partition, its leader, the leader's epoch, and a follower that is well; whether it is in the ISR."""

    partition: str
    leader: int
    epoch: int
    follower: int
    in_isr: bool


def following(state: WhoIsWell) -> Iterator[Following]:
    """Those of a moment whose leader is well, too."""
    for partition, (leader, epoch) in state.elected.items():
        if leader in state.well:
            isr = state.life.isrs[partition]
            for broker in state.replicas(partition):
                if broker != leader and broker in state.well:
                    yield Following(partition, leader, epoch, broker, broker in isr)


def not_let_in(spans: Spans[Following], bounds: Bounds, ends: LogEnds) -> Iterator[Anomaly]:
    """Once for each follower and epoch."""
    told: set[tuple[str, int, int]] = set()
    for one, span in sorted(spans.closed, key=lambda closed: (closed[1], closed[0])):
        place = (one.partition, one.follower, one.epoch)
        if span.length_us <= bounds.join_us or place in told:
            continue
        since, refused = _left_out(one, span, ends, bounds), False
        if since is None:
            since, refused = _unanswered(one, span, ends, bounds), True
        if since is None:
            continue
        told.add(place)
        led = f"broker {one.leader}, which led"
        what = (
            f"Broker {one.follower} had no good answer of {led}, for {one.partition}"
            if refused
            else f"Broker {one.follower} stayed out of the ISR of {one.partition}"
        )
        though = "though it was told of that epoch" if refused else f"though it had all that {led}, had"
        message = (
            f"{what} from {seconds(since.begin)} to {seconds(since.end)}, {though}: {seconds(since.length_us)}, where "
            f"{seconds(bounds.join_us)} would do."
        )
        evidence = {
            "leader": one.leader,
            "leader_epoch": one.epoch,
            "follower": one.follower,
            "refused": refused,
            "since": since.begin,
            "until": since.end,
            "bound_us": bounds.join_us,
        }
        yield Anomaly(NAME, VIOLATION, since.begin + bounds.join_us, one.partition, message, evidence=evidence)


def _left_out(one: Following, span: Span, ends: LogEnds, bounds: Bounds) -> Span | None:
    """How long it was out of the ISR and had all."""
    for part_span, part in ends.parts(one.partition, one.follower, span) if not one.in_isr else ():
        if part == (one.leader, one.epoch, True) and part_span.length_us > bounds.join_us:
            for lead_span, _ in _led(one, part_span, ends):
                caught_up = ends.caught_up(one.partition, one.follower, one.leader, lead_span)
                if caught_up is not None and lead_span.end - caught_up > bounds.join_us:
                    return Span(caught_up, lead_span.end)
    return None


def _unanswered(one: Following, span: Span, ends: LogEnds, bounds: Bounds) -> Span | None:
    """How long both knew of the epoch, and it had no good answer."""
    for part_span, part in ends.parts(one.partition, one.follower, span):
        if part == (one.leader, one.epoch, False):
            for lead_span, _ in _led(one, part_span, ends):
                if lead_span.length_us > bounds.join_us:
                    return lead_span
    return None


def _led(one: Following, span: Span, ends: LogEnds) -> Iterator[tuple[Span, object]]:
    """When, within a span, the leader knew that it was."""
    for led in ends.parts(one.partition, one.leader, span):
        if led[1] == (one.leader, one.epoch, True):
            yield led
