"""A run to shrink that is stored: of the simulator, or of a real world, whose anomaly the model has to show first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.checkers import Anomaly, Verdict, check
from tidemark.harness.runs.folder import PLAN, load_history
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.as_it_happened import as_it_happened
from tidemark.harness.search.shrink.budget import Budget
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.nemesis import REAL_ONLY, Plan, read_plan


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run's folder tells.

    Attributes:
        plan: without what the simulator cannot do. left_out: kinds of faults that were left out for that.
        happened: the same as it happened.
        variant: that it ran, as far as the history says. is_real: whether it happened on real processes.
        verdict: of the checkers as they are now. anomaly: the one to look for; None if there is none. cause: why it came about.
    """

    plan: Plan
    happened: Plan
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
    return StoredRun(
        _without_real_only(plan),
        _without_real_only(as_it_happened(plan, history)),
        left_out,
        history.meta.get("variant"),
        history.meta.get("world", "sim") != "sim",
        verdict,
        anomaly,
        None if anomaly is None else causes_of(anomaly, verdict, history)[0],
    )


def _without_real_only(plan: Plan) -> Plan:
    return replace(plan, faults=tuple(fault for fault in plan.faults if fault.kind not in REAL_ONLY))


def in_model(
    ways: Iterable[Plan],
    anomaly: Anomaly,
    cause: Cause,
    run: Callable[[Plan], JudgedRun],
    *,
    budget: Budget,
) -> tuple[Plan, Cause] | None:
    """The first of several plans that shows an anomaly for the same cause in the model; else the first that shows one of the name
    and verdict, and why; None if there is none.

    Real brokers say what they do in other words than the model, so that causes cannot always be compared.

    Raises:
        BudgetSpentError: before that was known.
    """
    first: tuple[Plan, Cause] | None = None
    for plan in ways:
        budget.spend()
        found = run(plan)
        for one in found.verdict.anomalies:
            if (one.name, one.verdict) != (anomaly.name, anomaly.verdict):
                continue
            causes = causes_of(one, found.verdict, found.history)
            if cause in causes:
                return plan, cause
            first = first or (plan, causes[0])
    return first
