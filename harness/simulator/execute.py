"""One simulated run, from plan to verdict: what commands, campaigns and searches all call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers import check
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.simulator.simulate import simulate
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from tidemark.nemesis import Plan


def execute(plan: Plan, variant: str, contract: str | None = None) -> JudgedRun:
    """Run a plan in the simulator and check it. The same arguments give the same result, anywhere.

    Args:
        plan: cluster, workload, faults and noise seed.
        variant: a preset with modifiers (``tidemark.nodes.families.parse_variant``).
        contract: the promise to judge by; the variant's own by default.

    Raises:
        VariantError: the variant cannot be parsed.
    """
    run = simulate(plan, parse_variant(variant), contract)
    return JudgedRun(run.history, check(run.history), run.digest, run.events, run.virtual_us)
