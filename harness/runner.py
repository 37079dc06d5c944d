"""One run, from plan to verdict: what commands, campaigns and searches all call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checkers import History, Verdict, check
from harness.simulator import simulate
from nodes.core.variant import parse_variant

if TYPE_CHECKING:
    from nemesis import Plan


@dataclass(slots=True)
class RunResult:
    """A run and what the checkers say of it.

    Attributes:
        history: see docs/history.md. verdict: see docs/anomalies.md.
        digest: equal digests mean equal runs.
        events: events delivered. virtual_us: the run's length in virtual time.
    """

    history: History
    verdict: Verdict
    digest: str
    events: int
    virtual_us: int


def execute(plan: Plan, variant: str, contract: str | None = None) -> RunResult:
    """Run a plan in the simulator and check it. The same arguments give the same result, anywhere.

    Args:
        plan: cluster, workload, faults and noise seed.
        variant: a preset with modifiers (``nodes.core.variant.parse_variant``).
        contract: the promise to judge by; the variant's own by default.

    Raises:
        VariantError: the variant cannot be parsed.
    """
    run = simulate(plan, parse_variant(variant), contract)
    return RunResult(run.history, check(run.history), run.digest, run.events, run.virtual_us)
