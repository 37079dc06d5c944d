"""Why a run failed of which there are a plan and a history: a folder's, or a campaign's example."""

from __future__ import annotations

from checkers.history import History
from checkers.verdict import Verdict
from harness.report.model import Example
from harness.report.why import Why
from harness.why.tried import why_of
from nemesis import Plan
from nodes.core.variant import VariantError
from nodes.families import parse_variant


def why_of_stored(plan: Plan, history: History, verdict: Verdict) -> Why | None:
    """What `why_of` says of a run by what its history tells of itself."""
    meta = history.meta
    variant = str(meta.get("variant", ""))
    try:
        parse_variant(variant)
        simulated = meta.get("world", "sim") == "sim" and meta.get("system", "tidemark") == "tidemark"
    except VariantError:  # brokers of a real Kafka, held to some protocol
        simulated = False
    contract = verdict.contract if meta.get("contract_alone", False) else None
    return why_of(plan, variant, contract, history, verdict, again=simulated)


def why_of_example(example: Example) -> Why | None:
    """The same of an example of a comparison."""
    return why_of_stored(Plan.from_json(example.plan), example.history, example.verdict)
