"""The simulator, digest included, against a bare heap loop that passes the same messages.

The messages and timers of real runs are recorded first, with the event during whose handling each was sent. The bare loop then
makes each of them anew at the same moment, pushes it on a heap with the same delivery time, pops it and hands it to an empty
handler looked up by its class: what any event loop must do, and no more. Both are timed in turn; medians are compared.
"""

from __future__ import annotations

import gc
from dataclasses import fields, is_dataclass
from heapq import heappop, heappush
from statistics import median
from time import perf_counter
from typing import Any

from tidemark.harness.simulator import simulate
from tidemark.harness.simulator import simulation as world_module
from tidemark.nemesis import Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

PLANS = 30
ROUNDS = 7
VARIANT = "kafka-2.7"

Sent = tuple[int, type, tuple[Any, ...]]
"""Delivery time, class, constructor arguments."""


def main() -> None:
    """Print both rates and their ratio."""
    plans = [generate_plan(1, i, "intact", ClusterSpec()) for i in range(PLANS)]
    recorded = [_record(plan) for plan in plans]
    variant = parse_variant(VARIANT)
    gc.collect()
    gc.freeze()  # the recordings are neither contender's garbage
    gc.disable()
    ours, bare = [], []
    for _ in range(ROUNDS):
        start = perf_counter()
        events = sum(simulate(plan, variant).events for plan in plans)
        ours.append(events / (perf_counter() - start))
        start = perf_counter()
        passed = sum(_bare_loop(messages) for messages in recorded)
        bare.append(passed / (perf_counter() - start))
    print(f"simulator with digest   {median(ours):>10,.0f} events/s   ({events:,} events, {VARIANT}, {PLANS} plans)")
    print(f"bare heap loop          {median(bare):>10,.0f} events/s   ({passed:,} events)")
    print(f"ratio                   {median(ours) / median(bare):>10.1%}   (bar: 25 %)")


def _record(plan: Plan) -> list[list[Sent]]:
    """What a run pushed before its first event, and then during each event."""
    sent: list[list[Sent]] = [[]]

    def recording_push(heap: Any, entry: tuple[Any, ...]) -> None:
        event = entry[4]
        values = tuple(getattr(event, f.name) for f in fields(event)) if is_dataclass(event) else ()
        sent[-1].append((entry[0], type(event) if is_dataclass(event) else object, values))
        heappush(heap, entry)

    def recording_pop(heap: Any) -> Any:
        sent.append([])
        return heappop(heap)

    world_module.heappush, world_module.heappop = recording_push, recording_pop  # type: ignore[attr-defined]
    try:
        simulate(plan, parse_variant(VARIANT))
    finally:
        world_module.heappush, world_module.heappop = heappush, heappop  # type: ignore[attr-defined]
    return sent


def _bare_loop(sent: list[list[Sent]]) -> int:
    """Pop, dispatch, make and push what was sent then; nothing else."""
    heap: list[tuple[int, int, object]] = []
    handlers = {cls: _nothing for messages in sent for _, cls, _ in messages}
    seq = 0
    for messages in sent:
        if heap:
            at, _, message = heappop(heap)
            handlers[message.__class__](at, message)
        for at, cls, values in messages:
            seq += 1
            heappush(heap, (at, seq, cls(*values)))
    return len(sent)


def _nothing(now: int, message: object) -> None:
    """An empty handler."""
