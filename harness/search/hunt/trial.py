"""One plan, tried: what it reached, as little as a corpus needs to know, so that it travels cheaply between processes."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.checkers import Anomaly, History, Verdict, check
from tidemark.checkers.marks import exercised
from tidemark.checkers.verdict.verdict import NEAR_MISS, VIOLATION
from tidemark.harness.search.hunt.quarry import Quarry
from tidemark.harness.search.shrink.cause import causes_of
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Plan
from tidemark.nodes.families import AnyVariant

NEAR, BROKEN = "near:", "broken:"
"""Before the names of near misses, and of violations that are not the quarry."""
_OFTEN = (2, 5)
"""A mark that was reached so often is one more mark."""


class Caught(NamedTuple):
    """What was hunted, as it showed: the anomaly's name, its sentence, and why it came about, in words without numbers."""

    name: str
    message: str
    cause: str


class Trial(NamedTuple):
    """What came of a plan.

    `reached`: mark → when it was first reached, in µs. `caught`: the most telling anomaly of those hunted, if there is one.
    """

    reached: dict[str, int]
    caught: Caught | None
    valid: str
    digest: str


def attempt(plan: Plan, variant: AnyVariant, quarry: Quarry, contract: str | None = None) -> Trial:
    """Simulate and judge a plan."""
    run = simulate(plan, variant, contract)
    verdict = check(run.history)
    marks = exercised(run.history.trace)
    reached = {name: mark.first_us for name, mark in marks.items()}
    for name, mark in marks.items():
        reached |= {f"{name}×{times}": mark.first_us for times in _OFTEN if mark.times >= times}
    for anomaly in verdict.anomalies:
        if anomaly.verdict in (NEAR_MISS, VIOLATION):
            kind = NEAR if anomaly.verdict == NEAR_MISS else BROKEN
            reached.setdefault(kind + anomaly.name, anomaly.time)
    return Trial(reached, _caught(quarry.in_(verdict), verdict, run.history), verdict.valid, run.digest)


def _caught(found: Anomaly | None, verdict: Verdict, history: History) -> Caught | None:
    if found is None:
        return None
    causes = causes_of(found, verdict, history)
    return Caught(found.name, found.message, "; ".join(causes[0].facts) if causes else "")
