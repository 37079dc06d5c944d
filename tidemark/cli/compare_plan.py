"""``tidemark compare --plan``: one plan under each variant, in this process: what each makes of the same faults."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.cli.corpus import read_plan_or_kept
from tidemark.cli.exits import VALID, exit_code
from tidemark.cli.refused import refused
from tidemark.cli.table_format import TEXT, print_table
from tidemark.harness.report.result_table import ResultTable
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import PlanError

if TYPE_CHECKING:
    from tidemark.checkers.verdict.verdict import Verdict


def compare_plan(
    file: Path, variants: Sequence[str], contract: str | None, table_format: str, *, fails: bool, as_json: bool
) -> int:
    """Simulate the plan under each variant, and print what each came to; `fails`: a violation is told by the exit code.

    Raises:
        click.ClickException: the plan cannot be used.
    """
    with refused(PlanError):
        plan = read_plan_or_kept(file)
    verdicts: dict[str, Verdict] = {}
    for variant in variants:
        run = execute(plan, variant, contract)
        verdicts[variant] = run.verdict
        if as_json:
            click.echo(json.dumps({"variant": variant, "digest": run.digest, "verdict": run.verdict.to_json()}))
    if not as_json:
        click.echo(f"{file}: {len(plan.faults)} faults, each variant once", err=table_format != TEXT)
        rows = []
        for variant, verdict in verdicts.items():
            found: Counter[str] = Counter()
            for anomaly in verdict.anomalies:
                found[anomaly.name] += anomaly.times * (anomaly.verdict == VIOLATION)
            numbers = (verdict.stats.get(name) for name in ("acked", "acked_lost_violation", "acked_lost_permitted"))
            told = ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in found.items() if count)
            row = (
                variant,
                verdict.valid,
                *numbers,
                told or verdict.unknown_because or "none",
            )
            rows.append(row)
        print_table(
            ResultTable(("variant", "valid", "acked>", "lost>", "permitted>", "violations"), rows), table_format
        )
    return exit_code(verdict.valid for verdict in verdicts.values()) if fails else VALID
