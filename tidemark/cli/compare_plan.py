"""``tidemark compare --plan``: one plan under each variant, in this process: what each makes of the same faults."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.cli.corpus import read_plan_or_kept
from tidemark.cli.exits import VALID, exit_code
from tidemark.cli.options import CLUSTER_OPTIONS
from tidemark.cli.workload_options import refuse_beside_a_plan
from tidemark.nemesis import PlanError

if TYPE_CHECKING:
    from tidemark.checkers.verdict.verdict import Verdict

REFUSED = {
    "plans": "--plans",
    "campaigns": "--campaign",
    "baseline": "--baseline",
    "out": "--out",
    "master": "--master",
    "chunk": "--chunk",
    "report": "--report",
    "fresh": "--fresh",
    "retry_errors": "--retry-errors",
    "stop_at_first": "--stop-at-first",
    "junit": "--junit",
    "annotations": "--annotations",
}
"""Options of a campaign, which one plan is not."""


def compare_plan(options: dict[str, Any]) -> int:
    """Simulate the plan under each variant, and print what each came to.

    Raises:
        click.UsageError: an option is for campaigns.
        click.ClickException: the plan cannot be used.
    """
    for name, option in REFUSED.items():
        if options[name]:
            raise click.UsageError(f"{option} is for campaigns, and --plan for one plan")
    if options["world"] != "sim" or options["system"] != "tidemark":
        raise click.UsageError("--plan is for the simulator: tidemark run --plan has it run in containers")
    from tidemark.harness.simulator.execute import execute

    context = click.get_current_context()
    for name in ("seed", "profile", *CLUSTER_OPTIONS):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} cannot be given with --plan: the plan file says it (edit a copy of it)")
    refuse_beside_a_plan(options)
    try:
        plan = read_plan_or_kept(options["plan_file"])
    except (PlanError, OSError) as error:
        raise click.ClickException(str(error)) from None
    verdicts: dict[str, Verdict] = {}
    for variant in options["variants"]:
        run = execute(plan, variant, options["contract"])
        verdicts[variant] = run.verdict
        if options["as_json"]:
            click.echo(json.dumps({"variant": variant, "digest": run.digest, "verdict": run.verdict.to_json()}))
    if not options["as_json"]:
        click.echo(f"{options['plan_file']}: {len(plan.faults)} faults, each variant once")
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("variant", "valid", "acked", "lost", "violations"):
            table.add_column(column, overflow="fold")
        for variant, verdict in verdicts.items():
            found = Counter(anomaly.name for anomaly in verdict.anomalies if anomaly.verdict == VIOLATION)
            lost = (
                f"{verdict.stats.get('acked_lost_violation')} (+ {verdict.stats.get('acked_lost_permitted')} permitted)"
            )
            told = ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in found.items())
            row = (
                variant,
                verdict.valid,
                str(verdict.stats.get("acked")),
                lost,
                told or verdict.unknown_because or "none",
            )
            table.add_row(*map(escape, row))
        Console(highlight=False).print(table)
    return exit_code(verdict.valid for verdict in verdicts.values()) if options["fail_on_violation"] else VALID
