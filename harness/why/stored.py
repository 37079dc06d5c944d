"""Why a run failed of which there are a plan and a history: a folder's, or a campaign's example."""

from __future__ import annotations

from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.verdict import Verdict
from tidemark.harness.report.model import Example
from tidemark.harness.report.why_section import Why
from tidemark.harness.why.simulated import is_simulated
from tidemark.harness.why.tried import why_of
from tidemark.nemesis import Plan


def why_of_stored(plan: Plan, history: History, verdict: Verdict) -> Why | None:
    """What `why_of` says of a run by what its history tells of itself."""
    meta = history.meta
    variant = str(meta.get("variant", ""))
    contract = verdict.contract if meta.get("contract_alone", False) else None
    return why_of(plan, variant, contract, history, verdict, again=is_simulated(history))


def why_of_example(example: Example) -> Why | None:
    """The same of an example of a comparison."""
    return why_of_stored(Plan.from_json(example.plan), example.history, example.verdict)
