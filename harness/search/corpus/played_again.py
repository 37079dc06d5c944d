"""Play a kept plan again, and say whether it still shows what it showed."""

from __future__ import annotations

import traceback
from typing import NamedTuple

from tidemark.checkers.verdict.verdict import NEAR_MISS, VIOLATION
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.corpus.kept_plan import KeptPlan
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Plan

SAME = "same"
"""The same anomaly of the same cause; or valid, where it must be."""
CHANGED = "changed"
"""Another anomaly, or the same of another cause."""
GONE = "gone"
"""Nothing of its kind any more."""
BROKEN = "broken"
"""A violation where there must be none: the run, or what was a near miss."""
RAISED = "raised"
"""The run could not be carried out."""
_GRAVE = (VIOLATION, NEAR_MISS)


class Replayed(NamedTuple):
    """What came of a kept plan.

    `status`: :data:`SAME` and so on; `instead`: what it shows, in a sentence, if that is not the same.
    `repaired`: whether there is no violation under the repaired variant, None if none is named; `repaired_instead`: which there is.
    """

    status: str
    instead: str
    repaired: bool | None
    repaired_instead: str

    @property
    def is_as_kept(self) -> bool:
        """Whether all is as it was."""
        return self.status == SAME and self.repaired is not False


def replay(kept: KeptPlan) -> Replayed:
    """Simulate and judge a kept plan, and once more under its repaired variant. A run that raises is an outcome, too."""
    try:
        status, instead = _compared(kept)
    except Exception as error:  # noqa: BLE001  one plan must not cost the others
        status, instead = RAISED, _sentence(error)
    if kept.repaired is None:
        return Replayed(status, instead, None, "")
    try:
        found = violation_under(kept.plan, kept.repaired, kept.contract)
    except Exception as error:  # noqa: BLE001
        found = _sentence(error)
    return Replayed(status, instead, not found, found)


def violation_under(plan: Plan, variant: str, contract: str | None) -> str:
    """The violation that a plan shows under a variant and its cause, in a sentence; empty if it shows none.

    A plan that acknowledges nothing is `unknown` where nothing goes wrong, and no violation either.
    """
    run = execute(plan, variant, contract)
    return _shown_by(run) if run.verdict.valid == "invalid" else ""


def witness(
    plan: Plan, variant: str, contract: str | None, name: str | None = None, because: str | None = None
) -> tuple[Cause, str] | None:
    """What a plan shows when it is played: an anomaly's cause and sentence.

    Args:
        plan: what is run.
        variant: that it is run under.
        contract: by which promise it is judged.
        name: the anomaly; without it the violation that others follow from.
        because: its facts in a line, as a hunt tells them; without them those of the gravest of its name.
    """
    run = execute(plan, variant, contract)
    first = chosen(run.verdict, name)
    if first is None:
        return None
    for anomaly in (first, *run.verdict.named(first.name)):
        for cause in causes_of(anomaly, run.verdict, run.history):
            if because is None or "; ".join(cause.facts) == because:
                return cause, anomaly.message
    return None


def _compared(kept: KeptPlan) -> tuple[str, str]:
    run = execute(kept.plan, kept.variant, kept.contract)
    if kept.cause is None:
        return (SAME, "") if run.verdict.valid == "valid" else (BROKEN, _shown_by(run))
    is_broken = kept.cause.verdict == NEAR_MISS and run.verdict.valid == "invalid"
    if is_broken:
        return BROKEN, _shown_by(run)
    for anomaly in run.verdict.named(kept.cause.name):
        if kept.cause in causes_of(anomaly, run.verdict, run.history):
            return SAME, ""
    of_its_kind = any(one.verdict in (*_GRAVE, kept.cause.verdict) for one in run.verdict.anomalies)
    return (CHANGED if of_its_kind else GONE), _shown_by(run, kept.cause.name)


def _shown_by(run: JudgedRun, name: str | None = None) -> str:
    """What a run shows, in a sentence: the anomaly of a name if it has one, else the most telling one."""
    anomaly = (chosen(run.verdict, name) if name else None) or chosen(run.verdict)
    anomaly = anomaly or next((one for one in run.verdict.anomalies if one.verdict in _GRAVE), None)
    if anomaly is not None:
        return str(causes_of(anomaly, run.verdict, run.history)[0])
    return f"unknown: {run.verdict.unknown_because}" if run.verdict.valid == "unknown" else "valid"


def _sentence(error: Exception) -> str:
    return traceback.format_exception_only(error)[-1].strip()
