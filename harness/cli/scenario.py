"""``tidemark scenario``: the worked examples of the seed documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from harness.cli.exits import ANOMALY, VALID
from harness.cli.options import VariantName, json_option
from harness.scenario import UnknownScenarioError, all_scenarios, find, run_scenario, variants_of

if TYPE_CHECKING:
    from harness.scenario import Scenario, ScenarioOutcome

EPILOG = """\b
Examples:
  tidemark scenario                                         what there is
  tidemark scenario kip-101-data-loss                        told step by step, under every rule it speaks about
  tidemark scenario kip-101-data-loss --variant kafka-0.10   under one rule
  tidemark scenario --all --json                            all of them, for a script

\b
Exit codes: 0 every outcome is as expected, 1 one is not."""


@click.command("scenario", epilog=EPILOG)
@click.argument("name", required=False)
@click.option("--all", "run_all", is_flag=True, help="Run every scenario.")
@click.option("--variant", type=VariantName(), help="Only under this variant.")
@json_option
def scenario_command(name: str | None, run_all: bool, variant: str | None, as_json: bool) -> int:
    """Play a scenario and hold it against the outcome worked out by hand."""
    if name and run_all:
        raise click.UsageError("give a scenario's NAME or --all, not both")
    if not name and not run_all:
        _list(as_json)
        return VALID
    try:
        chosen = all_scenarios() if name is None else [find(name)]
    except UnknownScenarioError as error:
        raise click.UsageError(str(error)) from None
    pairs = [(s, v) for s in chosen for v in variants_of(s) if variant in (None, v)]
    if not pairs:
        spoken = ", ".join(variants_of(chosen[0])) if name else "other variants"
        raise click.UsageError(f"no outcome under {variant} is stated; it speaks about {spoken}")
    outcomes = [
        run_scenario(s, v)
        for s, v in track(pairs, "Scenarios", console=Console(stderr=True), transient=True, disable=len(pairs) < 10)
    ]
    if as_json:
        click.echo(json.dumps([outcome.to_json() for outcome in outcomes], indent=1))
    elif run_all:
        _table(outcomes)
    else:
        from harness.scenario.show import show_outcome

        for outcome in outcomes:
            show_outcome(outcome, Console())
    return VALID if all(outcome.matched for outcome in outcomes) else ANOMALY


def _list(as_json: bool) -> None:
    scenarios: list[Scenario] = list(all_scenarios())
    if as_json:
        rows = [
            {"name": s.name, "title": s.title, "source": s.source, "variants": list(variants_of(s))} for s in scenarios
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    table = Table("scenario", "what it shows", "source")
    for scenario in scenarios:
        table.add_row(scenario.name, scenario.title, scenario.source)
    Console().print(table)


def _table(outcomes: list[ScenarioOutcome]) -> None:
    """One row for all variants of a scenario that end the same way."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for outcome in outcomes:
        expected = "[green]yes[/]" if outcome.matched else "[red]NO[/] " + escape("; ".join(outcome.mismatches))
        groups.setdefault((outcome.scenario.name, _ending(outcome), expected), []).append(outcome.variant)
    table = Table("scenario", "variants", "outcome", "as expected")
    shown = ""
    for (name, ending, expected), variants in groups.items():
        if name != shown:
            table.add_section()
        table.add_row("" if name == shown else name, ", ".join(variants), ending, expected)
        shown = name
    console = Console()
    console.print(table)
    wrong = sum(not outcome.matched for outcome in outcomes)
    scenarios = len({outcome.scenario.name for outcome in outcomes})
    console.print(f"{len(outcomes)} outcomes of {scenarios} scenarios, {wrong} not as expected")


def _ending(outcome: ScenarioOutcome) -> str:
    """The violations by name, or else what loss was permitted, or the verdict."""
    anomalies = outcome.verdict.anomalies
    violations = sorted({anomaly.name for anomaly in anomalies if anomaly.verdict == "violation"})
    if violations:
        return f"[red]{', '.join(violations)}[/]"
    clauses = sorted({a.clause for a in anomalies if a.name == "lost-committed-write" and a.clause})
    return f"lost, permitted: {', '.join(clauses)}" if clauses else outcome.verdict.valid
