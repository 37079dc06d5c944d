"""A run to shrink that is stored: of the simulator, or of a real world, whose anomaly the model has to show first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checkers import check
from harness.runs.folder import PLAN, load_history
from harness.search.shrink.cause import Cause, causes_of
from harness.search.shrink.choice import chosen
from harness.search.shrink.judge import noises_of
from nemesis import REAL_ONLY, read_plan

if TYPE_CHECKING:
    from pathlib import Path

    from checkers import Anomaly, Verdict
    from harness.runs.judged import JudgedRun
    from harness.search.shrink.budget import Budget
    from nemesis import Plan


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run's folder tells.

    Attributes:
        plan: without what the simulator cannot do. left_out: kinds of faults that were left out for that.
        variant: that it ran, as far as the history says. is_real: whether it happened on real processes.
        verdict: of the checkers as they are now. anomaly: the one to look for; None if there is none. cause: why it came about.
    """

    plan: Plan
    left_out: tuple[str, ...]
    variant: str | None
    is_real: bool
    verdict: Verdict
    anomaly: Anomaly | None
    cause: Cause | None


def stored_run(folder: Path, name: str | None = None, contract: str | None = None) -> StoredRun:
    """Read a folder as ``tidemark run`` leaves it, and judge its history again.

    Args:
        folder: has ``plan.json`` and ``history.jsonl``.
        name: of the anomaly to look for.
        contract: the promise to judge by.

    Raises:
        PlanError, HistoryFormatError, OSError: something cannot be read; the message says what.
    """
    plan = read_plan(folder / PLAN)
    history = load_history(folder)
    verdict = check(history, contract)
    anomaly = chosen(verdict, name)
    left_out = tuple(sorted({fault.kind for fault in plan.faults} & REAL_ONLY))
    faults = tuple(fault for fault in plan.faults if fault.kind not in REAL_ONLY)
    return StoredRun(
        replace(plan, faults=faults),
        left_out,
        history.meta.get("variant"),
        history.meta.get("world", "sim") != "sim",
        verdict,
        anomaly,
        None if anomaly is None else causes_of(anomaly, verdict, history)[0],
    )


def cause_in_model(
    plan: Plan,
    anomaly: Anomaly,
    cause: Cause,
    run: Callable[[Plan], JudgedRun],
    *,
    budget: Budget,
    noises: int,
) -> Cause | None:
    """The cause itself, if the model shows it with this plan under any of several noises; else why an anomaly of the same name and
    verdict comes about there first; None if there is none.

    Real brokers say what they do in other words than the model, so that causes cannot always be compared.

    Raises:
        BudgetSpentError: before that was known.
    """
    first: Cause | None = None
    for candidate in noises_of(plan, noises):
        budget.spend()
        found = run(candidate)
        for one in found.verdict.anomalies:
            if (one.name, one.verdict) != (anomaly.name, anomaly.verdict):
                continue
            causes = causes_of(one, found.verdict, found.history)
            if cause in causes:
                return cause
            first = first or causes[0]
    return first
