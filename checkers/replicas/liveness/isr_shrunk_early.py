"""`isr-shrunk-early`: a leader took a follower out of the ISR that had all it had less than ``replica.lag.time.max.ms`` ago.

A follower is out of sync when it had all that its leader had for the last time longer ago than that
(``Partition.isFollowerOutOfSync``). Its leader hears of it by the next fetch, and dates it back to the fetch before that, which
waits for records for ``replica.fetch.wait.max.ms`` at most (KIP-16, ``Replica.updateFetchStateOrThrow``). As a leader begins, all
members count as having all (``Replica.resetReplicaState``), whatever holds them back. An ISR that shrinks without need may fall
below min ISR, and producers are refused.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(times=times, replicas={"t-0": [1, 2]}, trace=[
...     (0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0),
...     (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
...     (2, 2, "follow", "t-0", 0, 1, 0, 0),
...     (3, 2, "fetched", "t-0", 0, 1),
...     (20, 0, "isr-change", "t-0", (1,), (), 1),
...     (21, 1, "isr", "t-0", (1,), (1,), 1),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 2 was taken out of the ISR of t-0 at 0.000020 s, though both it and broker 1, which led, were well, and at 0.000009 s it \
had all that broker 1 had: 0.000011 s before, where 0.000015 s are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.trace_events import KIND, PARTITION, TIME, TraceEvent
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.log_ends import NOBODY, LogEnds
from tidemark.checkers.replicas.liveness.not_let_in import Following
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "isr-shrunk-early"


def shrunk_early(
    spans: Spans[Following], staying: Spans[int], bounds: Bounds, ends: LogEnds, events: Sequence[TraceEvent]
) -> Iterator[Anomaly]:
    """Once for each follower and epoch."""
    told: set[tuple[str, int, int]] = set()
    for one, since, out, though in (
        *_as_they_began(staying, bounds, events),
        *_though_well(spans, bounds, ends, events),
    ):
        place = (one.partition, one.follower, one.epoch)
        if place in told:
            continue
        told.add(place)
        message = (
            f"Broker {one.follower} was taken out of the ISR of {one.partition} at {seconds(out)}, though {though}: "
            f"{seconds(out - since)} before, where {seconds(bounds.lag_us)} are allowed."
        )
        evidence = {
            "leader": one.leader,
            "leader_epoch": one.epoch,
            "follower": one.follower,
            "since": since,
            "until": out,
            "bound_us": bounds.lag_us,
        }
        yield Anomaly(NAME, VIOLATION, out, one.partition, message, evidence=evidence)


_Early = tuple[Following, int, int, str]
"""Who was taken out, since when it must not have been, when it was, and what speaks against it."""


def _though_well(
    spans: Spans[Following], bounds: Bounds, ends: LogEnds, events: Sequence[TraceEvent]
) -> Iterator[_Early]:
    """Who leaves the ISR and goes on as it was, was taken out by its leader: whom the controller takes out is not well."""
    left_out = {(one, span.begin) for one, span in spans.closed if not one.in_isr}
    others = [event for event in events if event[KIND] in ("reassign", "fence")]
    for one, span in sorted(spans.closed, key=lambda closed: (closed[1], closed[0])):
        out = span.end
        if not one.in_isr or (one._replace(in_isr=False), out) not in left_out:
            continue
        if any(_concerns(event, one) and span.begin <= event[TIME] <= out for event in others):
            continue
        had_all = _had_all(one, span, bounds, ends)
        if had_all is not None:
            well = f"both it and broker {one.leader}, which led, were well"
            yield one, had_all, out, f"{well}, and at {seconds(had_all)} it had all that broker {one.leader} had"


def _as_they_began(staying: Spans[int], bounds: Bounds, events: Sequence[TraceEvent]) -> Iterator[_Early]:
    """Members with which a leader began, and that the controller had no reason to take out since it was elected.

    The leader's process is the same all the time: what one before it asked in this epoch may be carried out late.
    """
    stays: dict[int, list[Span]] = {}
    for node, span in staying.closed:
        stays.setdefault(node, []).append(span)
    elected: dict[str, trace_events.Elect] = {}
    led: dict[str, trace_events.Lead] = {}
    members: dict[str, set[int]] = {}
    replicas: dict[str, set[int]] = {}
    for event in events:
        partition = event[PARTITION]
        match event[KIND]:
            case "elect":
                elected[partition] = trace_events.Elect(event)
                led.pop(partition, None)
            case "reassign":
                led.pop(partition, None)
                elected.pop(partition, None)
                replicas[partition] = {*trace_events.Reassign(event).replicas}
            case "lead":
                elect, lead = elected.get(partition), trace_events.Lead(event)
                if elect is not None and (elect.leader, elect.leader_epoch) == (lead.node, lead.leader_epoch):
                    led[partition] = lead
                    members[partition] = replicas.get(partition, {*lead.isr}).intersection(lead.isr) - {lead.node}
            case "isr-change" if partition in led:
                change, lead, elect = trace_events.IsrChange(event), led[partition], elected[partition]
                for follower in sorted(members[partition] - {*change.isr}):
                    one = Following(partition, lead.node, lead.leader_epoch, follower, in_isr=True)
                    if change.time - lead.time <= bounds.lag_us and all(
                        any(span.begin <= elect.time and change.time < span.end for span in stays.get(node, ()))
                        for node in (follower, lead.node)
                    ):
                        began = f"broker {lead.node} had begun to lead with it in the ISR at {seconds(lead.time)}"
                        yield one, lead.time, change.time, began
                members[partition] &= {*change.isr}


def _concerns(event: TraceEvent, one: Following) -> bool:
    """Whether the controller changed the partition's replicas, or fenced the follower."""
    if event[KIND] == "fence":
        return bool(trace_events.Fence(event).broker == one.follower)
    return bool(event[PARTITION] == one.partition)


def _had_all(one: Following, span: Span, bounds: Bounds, ends: LogEnds) -> int | None:
    """When it had all, of the time that its leader must count; None if that is not known, or it had not.

    Both have to be well for as long as a request may be lost: then what the leader asked of the controller, it asked just now.
    """
    if span.length_us <= bounds.answer_us:
        return None
    since = span.begin
    for node in (one.leader, one.follower):
        *_, (its, part) = [(span, NOBODY), *ends.parts(one.partition, node, span)]
        if part != (one.leader, one.epoch, True):
            return None
        since = max(since, its.begin)
    counted = Span(max(since, span.end - bounds.lag_us) + bounds.heard_us, span.end - bounds.close_us)
    return ends.caught_up(one.partition, one.follower, one.leader, counted) if counted.length_us >= 0 else None
