"""Steps of a process through a key that are not by one record, told as anomalies."""

from __future__ import annotations

from typing import Any

from tidemark.checkers.history.columns.steps import MOST_SKIPPED, Step, StepRows, Steps
from tidemark.checkers.history.columns.versions import Sighting
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import Anomaly, Judgement, at_offset, seconds


def step_anomalies(name: str, judgement: Judgement, steps: Steps, rows: StepRows) -> list[Anomaly]:
    """An anomaly for each of the steps; of each key the first ones, and a number."""
    anomalies = []
    for key, told in steps.told(rows):
        anomalies += shortened([_anomaly(name, judgement, key, step) for step in told])
    return anomalies


def _anomaly(name: str, judgement: Judgement, key: str, step: Step) -> Anomaly:
    before, after = step.before, step.after
    verb = "sent" if after.f == "send" else "polled"
    when = "in the same operation" if "int-" in name else f"at {seconds(before.time)}"
    message = (
        f"{after.process} {verb} record {after.value} of {key} {at_offset(after.offset)} at {seconds(after.time)}, "
        f"after record {before.value} {at_offset(before.offset)} {when}: {_how(step)}."
    )
    evidence = {
        "process": after.process,
        "delta": step.delta,
        "before": _record(before),
        "after": _record(after),
        "skipped": list(step.skipped),
    }
    return Anomaly(
        name, judgement.verdict, after.time, key, message, judgement.clause, judgement.breaks, evidence=evidence
    )


def _how(step: Step) -> str:
    if step.delta < 1:
        return "it went back"
    more = step.delta - 1 - MOST_SKIPPED
    return f"it skipped {', '.join(map(str, step.skipped))}" + (f" and {more} more" if more > 0 else "")


def _record(seen: Sighting) -> dict[str, Any]:
    return {"time": seen.time, "offset": seen.offset, "value": seen.value}
