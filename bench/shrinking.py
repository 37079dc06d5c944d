"""Shrinking: 20 random hits per rule, all shrunk; how small the plans get, and whether the cause stays the same."""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import NamedTuple

from tidemark.harness.search.shrink import Budget, Cause, Shrunk, causes_of, shrink
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.size import UNBOUNDED, records_of
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

RULES = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1")
"""Those that random plans break often enough."""
REPAIRED = "kafka-2.7"
"""Nothing that random plans find in the others is left there."""
PROFILES = ("intact", "destructive")
"""In turn."""
HITS = 20
MOST_PLANS = 8_000
SEED = 11
REPLAYS = 5_000


class Hit(NamedTuple):
    """A random plan that breaks a rule."""

    plan: Plan
    cause: Cause
    acked: int


class Outcome(NamedTuple):
    """What became of it."""

    hit: Hit
    shrunk: Shrunk
    same: bool
    cured: bool
    again: bool
    seconds: float


def hits_of(variant: str) -> list[Hit]:
    """The first random plans of a seed that break a rule."""
    found: list[Hit] = []
    for index in range(MOST_PLANS):
        plan = generate_plan(SEED, index, PROFILES[index % len(PROFILES)], ClusterSpec())
        run = execute(plan, variant)
        anomaly = chosen(run.verdict)
        if anomaly is not None:
            found.append(Hit(plan, causes_of(anomaly, run.verdict, run.history)[0], run.verdict.stats["acked"]))
            if len(found) == HITS:
                break
    return found


def outcome_of(hit: Hit, variant: str) -> Outcome:
    """Shrink it, and look at what is left: its cause in a run of its own, and whether the repaired rule passes."""
    begun = time.perf_counter()
    shrunk = shrink(hit.plan, hit.cause, lambda plan: execute(plan, variant), budget=Budget(REPLAYS))
    seconds = time.perf_counter() - begun
    assert shrunk is not None, "the same plan under the same noise"
    run = execute(Plan.from_json(shrunk.after.to_json()), variant)
    same = any(hit.cause in causes_of(one, run.verdict, run.history) for one in run.verdict.named(hit.cause.name))
    cured = not execute(shrunk.after, REPAIRED).verdict.named(hit.cause.name)
    again = shrink(hit.plan, hit.cause, lambda plan: execute(plan, variant), budget=Budget(60))
    twice = shrink(hit.plan, hit.cause, lambda plan: execute(plan, variant), budget=Budget(60))
    assert again is not None
    assert twice is not None
    return Outcome(hit, shrunk, same, cured, again.after.to_text() == twice.after.to_text(), seconds)


def steps_of(fault: Fault) -> int:
    """What a fault does, one by one: a fast failover elects twice, and may make a replica deaf."""
    return 1 if fault.kind != "fast-failover" else 2 + (fault.pick // 3 % 3 > 0)


def told(name: str, outcomes: list[Outcome]) -> str:
    """A line of figures."""
    faults = [len(one.shrunk.after.faults) for one in outcomes]
    records = [min(records_of(one.shrunk.after), UNBOUNDED) for one in outcomes]
    steps = [sum(map(steps_of, one.shrunk.after.faults)) for one in outcomes]
    acked = [one.shrunk.run.verdict.stats["acked"] for one in outcomes]
    drawn = sum(one.shrunk.after.workload.sends is None for one in outcomes)
    brokers = [one.shrunk.after.cluster.brokers for one in outcomes]
    many = len(outcomes)
    before, acked_before = [len(one.hit.plan.faults) for one in outcomes], [one.hit.acked for one in outcomes]
    parts = (
        f"{name:<11} {many:>3} hits  faults: {median(before):g} to {median(faults):g} (median), {max(faults)} at most, at most 3",
        f"in {sum(f <= 3 for f in faults)} (with both elections of a failover, and who is deaf, counted: {median(steps):g},",
        f"{sum(s <= 3 for s in steps)}); records sent: at most 5 in {sum(r <= 5 for r in records)}, {drawn} as drawn;",
        f"acknowledged: {median(acked_before):g} to {median(acked):g}, {max(acked)} at most; brokers {median(brokers):g};",
        f"fixed delays in {sum(one.shrunk.after.fixed_delay_us is not None for one in outcomes)};",
        f"same cause {sum(o.same for o in outcomes)}; gone under {REPAIRED} {sum(o.cured for o in outcomes)};",
        f"same bytes again {sum(o.again for o in outcomes)}; {median(o.shrunk.replays for o in outcomes):g} replays,",
        f"{median(o.seconds for o in outcomes):.1f} s in the median, {max(o.seconds for o in outcomes):.0f} s at most",
    )
    return " ".join(parts)


def main() -> None:
    """Print a line for each rule and one for all; exit 1 if a bar is missed."""
    everything: list[Outcome] = []
    for variant in RULES:
        outcomes = []
        for hit in hits_of(variant):
            one = outcome_of(hit, variant)
            outcomes.append(one)
            after = one.shrunk.after
            print(
                f"  {variant} plan {hit.plan.index}: {len(hit.plan.faults)} faults to {len(after.faults)}, "
                f"{one.shrunk.run.verdict.stats['acked']} acked, {one.shrunk.replays} replays, {one.seconds:.1f} s, "
                f"{'same' if one.same else 'ANOTHER'} cause: {hit.cause}",
                flush=True,
            )
        print(told(variant, outcomes), flush=True)
        everything += outcomes
    print(told("all", everything))
    faults = sorted(len(one.shrunk.after.faults) for one in everything)
    few = sum(number <= 3 for number in faults) / len(faults)
    small = sum(records_of(one.shrunk.after) <= 5 for one in everything) / len(everything)
    same = sum(one.same for one in everything)
    print(
        f"median {median(faults):g} faults (bar: 2), at most 3 in {few:.0%} (bar: 90 %), at most 5 records in {small:.0%}, the "
        f"same cause in {same} of {len(everything)} (bar: all)"
    )
    if median(faults) > 2 or few < 0.9 or same < len(everything):
        sys.exit(1)
