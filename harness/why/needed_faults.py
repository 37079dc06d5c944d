"""Which faults of a failing plan it takes: the plan again without them, under some noises, as the shrinker would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.verdict import Anomaly, Verdict
from tidemark.harness.report.comparison import Example
from tidemark.harness.report.needed_faults_text import DecidingFaults
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.budget import Budget, BudgetSpentError
from tidemark.harness.search.shrink.cause import causes_of
from tidemark.harness.search.shrink.judge import Judge
from tidemark.harness.simulator.execute import execute
from tidemark.harness.why.simulated import is_simulated
from tidemark.nemesis import Plan

NOISES: Final = 3
MOST_REPLAYS: Final = 120
"""So many runs are tried for one failure at most; of a plan with more faults than that allows nothing is said."""


def deciding_faults(
    plan: Plan, variant: str, contract: str | None, history: History, verdict: Verdict, anomaly: Anomaly
) -> DecidingFaults | None:
    """The faults that an anomaly of a simulated run takes; None if that is not known after `MOST_REPLAYS` runs.

    What shows the same anomaly of the same cause counts (`tidemark.harness.search.shrink.cause`), under any of `NOISES`
    noises: with a fault less, all later delays fall otherwise.
    """

    def run(other: Plan) -> JudgedRun:
        return execute(other, variant, contract)

    judge = Judge(run, causes_of(anomaly, verdict, history)[0], Budget(MOST_REPLAYS), NOISES)

    def shows(places: Iterable[int]) -> bool:
        left = tuple(plan.faults[place] for place in sorted(places))
        return judge.shows(replace(plan, faults=left)) is not None

    struck = [entry[2] for entry in history.nemesis if entry[1] == "strike" and entry[0] <= anomaly.time]
    all_of_them = range(len(plan.faults))
    try:
        needed = [place for place in dict.fromkeys(struck) if not shows(set(all_of_them) - {place})]
        if shows(needed):
            return DecidingFaults(tuple(sorted(needed)), tuple(sorted(needed)), NOISES)
        enough = set(all_of_them)
        for place in [*(place for place in all_of_them if place not in struck), *dict.fromkeys(struck)]:
            if place not in needed and shows(enough - {place}):
                enough -= {place}
    except BudgetSpentError:
        return None
    return DecidingFaults(tuple(sorted(enough)), tuple(sorted(needed)), NOISES)


def deciding_faults_of_example(example: Example, anomaly: Anomaly) -> DecidingFaults | None:
    """The same of an anomaly of a comparison's example; None where the run was not simulated."""
    history, verdict = example.history, example.verdict
    if not is_simulated(history) or not history.trace:
        return None
    contract = verdict.contract if history.meta.get("contract_alone", False) else None
    return deciding_faults(Plan.from_json(example.plan), example.variant, contract, history, verdict, anomaly)
