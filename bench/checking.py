"""Run and check against real time, on one core: three replicas, the default workload."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from tidemark.checkers import check
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Plan, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

ROUNDS = 5
PLANS = 20
VARIANT = "kafka-2.7"
SECOND = 1_000_000


def main() -> None:
    """Print virtual seconds per second, for a long quiet run and for campaign plans, and the checkers' share."""
    cluster = ClusterSpec()
    quiet = Plan(0, 1, 1, "none", cluster, WorkloadSpec(), (), 60 * SECOND)
    _measure("default workload, no faults, 60 s", [quiet])
    for profile in ("intact", "destructive"):
        _measure(f"{PLANS} plans, {profile}", [generate_plan(1, i, profile, cluster) for i in range(PLANS)])


def _measure(name: str, plans: list[Plan]) -> None:
    variant = parse_variant(VARIANT)
    speeds, shares = [], []
    for _ in range(ROUNDS):
        start = perf_counter()
        runs = [simulate(plan, variant) for plan in plans]
        ran = perf_counter()
        for run in runs:
            check(run.history)
        end = perf_counter()
        speeds.append(sum(run.virtual_us for run in runs) / SECOND / (end - start))
        shares.append((end - ran) / (end - start))
    print(
        f"{name:<36}{median(speeds):>6.0f} × real time for run + check (bar: 200), checkers {median(shares):.0%} of it, "
        f"{median(speeds) and sum(run.events for run in runs) / len(runs):,.0f} events a run"
    )
