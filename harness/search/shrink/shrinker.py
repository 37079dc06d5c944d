"""From a plan that shows an anomaly to the least that shows the same of the same cause.

Passes (`passes`) propose, the judge (`judge`) decides by search whether a candidate still shows the anomaly (`cause` says what
*the same* is), and a candidate that does takes the best plan's place if it is smaller (`size`). All passes are repeated until none
finds anything: then the plan is as small as these passes can make it, which is a local minimum and no proof that none is smaller.

The same plan, variant and budget of replays give the same result. Whoever interrupts has the best plan so far.

After Hypothesis' shrinker (MacIver and Donaldson, "Test-Case Reduction via Test-Case Generation", ECOOP 2020): passes to a fixed
point under one total order; ddmin (Zeller and Hildebrandt 2002); and DEMi (Scott et al. 2016), for judging by search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.checkers import Anomaly
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.budget import Budget, BudgetSpentError
from tidemark.harness.search.shrink.cause import Cause
from tidemark.harness.search.shrink.judge import Judge, noises_of
from tidemark.harness.search.shrink.passes import PASSES
from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Plan

WHOLE, SPENT, INTERRUPTED = "nothing is left to drop", "the budget is spent", "interrupted"

PATIENCE = (1, 3)
"""When nothing is found any more, each candidate is looked at once more under so many times as many noises: replays of a small plan
cost little."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What shrinking came to.

    Attributes:
        before, after: the plans. cause: what both show.
        anomaly, run: as ``after`` shows it.
        ended: why it ended: :data:`WHOLE`, :data:`SPENT` or :data:`INTERRUPTED`.
        candidates, replays: how many plans were judged, and how many runs that took.
    """

    before: Plan
    after: Plan
    cause: Cause
    anomaly: Anomaly
    run: JudgedRun
    ended: str
    candidates: int
    replays: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: what is being tried, the best plan, and how many replays there were."""

    doing: str
    best: Plan
    replays: int


def shrink(
    plan: Plan,
    cause: Cause,
    run: Callable[[Plan], JudgedRun],
    *,
    budget: Budget,
    noises: int = 4,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Shrunk | None:
    """Shrink a plan; None if it does not show the anomaly under any of the noises tried.

    Args:
        plan: shows an anomaly, perhaps.
        cause: which, and why.
        run: carries a plan out and judges it; must be deterministic.
        budget: replays, and seconds if wanted.
        noises: how many noises each candidate is tried under.
        watch: is told before each pass and of each better plan.
    """
    judge = Judge(run, cause, budget, noises)
    try:
        begin = judge.shows(plan)
    except BudgetSpentError:
        begin = None
    if begin is None:
        return None
    search = Search(judge, begin, lambda best: watch(Progress("", best, budget.replays)))
    ended = WHOLE
    try:
        for times in PATIENCE:
            with search.patiently(times):
                _to_a_fixed_point(search, lambda doing: watch(Progress(doing, search.best, budget.replays)))
    except BudgetSpentError:
        ended = SPENT
    except KeyboardInterrupt:
        ended = INTERRUPTED
    return Shrunk(plan, search.best, cause, search.anomaly, search.run, ended, judge.candidates, budget.replays)


def _to_a_fixed_point(search: Search, tell: Callable[[str], None]) -> None:
    """All passes again and again, until none of them finds anything."""
    while True:
        before = search.best
        for doing, improve in PASSES.items():
            tell(doing)
            improve(search)
        if search.best == before:
            return


def how_often(plan: Plan, cause: Cause, run: Callable[[Plan], JudgedRun], tries: int) -> tuple[int, int]:
    """Under how many noises (delays, where they are fixed) but its own a plan shows an anomaly of a cause, and of how many: at
    most ``tries``.
    """
    others = list(noises_of(plan, tries + 1))[1:]
    judge = Judge(run, cause, Budget(len(others)), 1)
    return sum(judge.replay(other) for other in others), len(others)
