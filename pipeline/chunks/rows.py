"""A run's result as rows of the campaign's tables."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.pipeline.folder.tables import STATS

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History
    from tidemark.checkers.verdict.verdict import Verdict

Row: TypeAlias = tuple[Any, ...]
"""The fields of a table, in their order."""


def run_row(verdict: Verdict) -> dict[str, Any]:
    """What the table `runs` takes from the verdict."""
    return {
        "valid": verdict.valid,
        "contract": verdict.contract,
        "violations": sum(anomaly.times for anomaly in verdict.anomalies if anomaly.verdict == "violation"),
        "permitted": sum(anomaly.times for anomaly in verdict.anomalies if anomaly.verdict == "permitted"),
        "unknown_because": verdict.unknown_because or None,
        **{name: verdict.stats.get(name) for name in STATS},
    }


def anomaly_rows(plan: int, verdict: Verdict) -> list[dict[str, Any]]:
    """One row of the table `anomalies` for each anomaly of the verdict."""
    return [
        {
            "plan": plan,
            "name": anomaly.name,
            "verdict": anomaly.verdict,
            "clause": anomaly.clause,
            "breaks": list(anomaly.breaks),
            "time_us": anomaly.time,
            "partition": anomaly.partition,
            "message": anomaly.message,
            "evidence": _json(anomaly.evidence),
        }
        for anomaly in verdict.anomalies
    ]


def op_rows(plan: int, history: History) -> list[Row]:
    """The operations of clients and nemesis, in order of time; the nemesis comes first at equal times. Fields as in `OPS`."""
    halves: list[Row] = [
        (time, "nemesis", "info", action, _json({"index": index, "kind": kind, "detail": detail}), None, None, None)
        for time, action, index, kind, detail in history.nemesis
    ]
    halves += [(op.time, op.process, op.type, op.f, _json(op.value), op.error, op.acks, op.final) for op in history.ops]
    halves.sort(key=itemgetter(0))
    return [(plan, seq, *half) for seq, half in enumerate(halves)]


def meta_json(history: History) -> str:
    """What the column `meta` has of a kept run: its meta line, and what is missing of the history, if anything is."""
    missing = {"cut_off": history.cut_off, "gaps": history.gaps}
    return _json({**history.meta, **{name: words for name, words in missing.items() if words}})


def trace_rows(plan: int, history: History) -> list[Row]:
    """The replicas' trace, in its order. Fields as in `TRACE`."""
    return [
        (plan, seq, time, node, event, partition, _json(fields))
        for seq, (time, node, event, partition, *fields) in enumerate(history.trace)
    ]


_json = json.JSONEncoder(separators=(",", ":"), default=str).encode
"""Compact JSON; what JSON cannot say (a set in a piece of evidence, say) becomes its `str`."""
