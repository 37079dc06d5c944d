"""The simulator, digest included, against a bare heap loop that passes the same messages.

The messages, timers and delivery times of real runs are recorded first. The bare loop then makes each of those messages anew,
pushes it on a heap, pops it and hands it to an empty handler looked up by its class: what any event loop must do, and no more.
Both are timed in turn, several times; the medians are compared.
"""

from __future__ import annotations

import gc
from dataclasses import fields, is_dataclass
from heapq import heappop, heappush
from statistics import median
from time import perf_counter
from typing import Any

import harness.simulator.world as world_module
from harness.simulator import simulate
from nemesis import Plan, generate_plan
from nodes.cluster import ClusterSpec
from nodes.variant import parse_variant

PLANS = 30
ROUNDS = 5
VARIANT = "kafka-2.7"

Recorded = list[tuple[int, type, tuple[Any, ...]]]


def main() -> None:
    """Print both rates and their ratio."""
    plans = [generate_plan(1, i, "intact", ClusterSpec()) for i in range(PLANS)]
    recorded = [_record(plan) for plan in plans]
    variant = parse_variant(VARIANT)
    ours, bare = [], []
    for _ in range(ROUNDS):
        start = perf_counter()
        events = sum(simulate(plan, variant).events for plan in plans)
        ours.append(events / (perf_counter() - start))
        gc.disable()
        start = perf_counter()
        passed = sum(_bare_loop(messages) for messages in recorded)
        bare.append(passed / (perf_counter() - start))
        gc.enable()
    print(f"simulator with digest   {median(ours):>10,.0f} events/s   ({events:,} events, {VARIANT}, {PLANS} plans)")
    print(f"bare heap loop          {median(bare):>10,.0f} events/s   ({passed:,} events)")
    print(f"ratio                   {median(ours) / median(bare):>10.1%}   (bar: 25 %)")


def _record(plan: Plan) -> Recorded:
    """Every event of a run as (delivery time, class, constructor arguments), in the order they were pushed."""
    messages: Recorded = []
    def recording_push(heap: Any, entry: tuple[Any, ...]) -> None:
        event = entry[4]
        values = tuple(getattr(event, f.name) for f in fields(event) if f.init) if is_dataclass(event) else ()
        messages.append((entry[0], type(event) if is_dataclass(event) else object, values))
        heappush(heap, entry)

    world_module.heappush = recording_push  # type: ignore[attr-defined]
    try:
        simulate(plan, parse_variant(VARIANT))
    finally:
        world_module.heappush = heappush  # type: ignore[attr-defined]
    return messages


def _bare_loop(messages: Recorded) -> int:
    """Make, push, pop and dispatch each message; about as many wait on the heap at a time as in the real run."""
    heap: list[tuple[int, int, object]] = []
    handlers = {cls: _nothing for _, cls, _ in messages}
    passed = 0
    waiting = 12
    for seq, (at, cls, values) in enumerate(messages):
        heappush(heap, (at, seq, cls(*values)))
        if seq >= waiting:
            at, _, message = heappop(heap)
            handlers[message.__class__](at, message)
            passed += 1
    while heap:
        at, _, message = heappop(heap)
        handlers[message.__class__](at, message)
        passed += 1
    return passed


def _nothing(now: int, message: object) -> None:
    """An empty handler."""
