"""Tables of ``tidemark scenario``: what there is, how all of them ended, and how often each came out as its script says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tidemark.cli.output import output
from tidemark.cli.table_format import TEXT, print_table
from tidemark.harness.report.result_table import ResultTable
from tidemark.harness.scenario import variants_of

if TYPE_CHECKING:
    from tidemark.harness.scenario import Scenario, ScenarioOutcome


@dataclass(frozen=True, slots=True)
class Tries:
    """The same scenario under the same variant, one or more times; `failures` say which could not be carried out, and why."""

    scenario: Scenario
    variant: str
    outcomes: list[ScenarioOutcome]
    failures: list[str] = field(default_factory=list)

    @property
    def times(self) -> int:
        """How many there were."""
        return len(self.outcomes) + len(self.failures)

    @property
    def expected(self) -> str | None:
        """The verdict that the script claims, if it does."""
        claimed = self.scenario.outcomes.get(self.variant)
        return claimed.verdict if claimed else None

    @property
    def matched(self) -> int:
        """How many came out as the script says."""
        return sum(outcome.matched for outcome in self.outcomes)

    @property
    def violated(self) -> int:
        """In how many a promise was broken."""
        return sum(outcome.verdict.valid == "invalid" for outcome in self.outcomes)

    @property
    def mismatches(self) -> list[str]:
        """What was not as the script says, each sentence once."""
        return [*dict.fromkeys(words for outcome in self.outcomes for words in outcome.mismatches), *self.failures]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "scenario": self.scenario.name,
            "variant": self.variant,
            "expected": self.expected,
            "times": self.times,
            "matched": self.matched,
            "violated": self.violated,
            "failures": self.failures,
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }


def show_scenarios(scenarios: list[Scenario], table_format: str, *, as_json: bool) -> None:
    """What there is."""
    if as_json:
        rows = [
            {"name": s.name, "title": s.title, "source": s.source, "variants": list(variants_of(s))} for s in scenarios
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    if table_format != TEXT:
        lines = [(scenario.name, scenario.title, scenario.source) for scenario in scenarios]
        print_table(ResultTable(("scenario", "title", "source"), lines), table_format)
        return
    table = Table("scenario", "what it shows", "source")
    for scenario in scenarios:
        table.add_row(scenario.name, scenario.title, scenario.source)
    output().print(table)


def show_outcomes(outcomes: list[ScenarioOutcome], table_format: str) -> None:
    """One row for all variants of a scenario that end the same way."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for outcome in outcomes:
        expected = "; ".join(outcome.mismatches)
        groups.setdefault((outcome.scenario.name, _ending(outcome), expected), []).append(outcome.variant)
    if table_format != TEXT:
        rows = [
            (name, ", ".join(variants), Text.from_markup(ending).plain, f"no: {wrong}" if wrong else "yes")
            for (name, ending, wrong), variants in groups.items()
        ]
        print_table(ResultTable(("scenario", "variants", "outcome", "as expected"), rows), table_format)
        return
    table = Table("scenario", "variants", "outcome", "as expected")
    shown = ""
    for (name, ending, expected), variants in groups.items():
        if name != shown:
            table.add_section()
        told = f"[red]NO[/] {escape(expected)}" if expected else "[green]yes[/]"
        table.add_row("" if name == shown else name, ", ".join(variants), ending, told)
        shown = name
    console = output()
    console.print(table)
    wrong = sum(not outcome.matched for outcome in outcomes)
    scenarios = len({outcome.scenario.name for outcome in outcomes})
    console.print(f"{len(outcomes)} outcomes of {scenarios} scenarios, {wrong} not as expected")


def show_tries(tries: list[Tries], table_format: str) -> None:
    """How often each came out as its script says."""
    if table_format != TEXT:
        lines = [(one.scenario.name, one.variant, one.expected, one.times, one.violated, one.matched) for one in tries]
        names = ("scenario", "variant", "expected", "tries>", "violated>", "matched>")
        print_table(ResultTable(names, lines), table_format)
        return
    table = Table("scenario", "variant", "expected", "violations in", "matched")
    for one in tries:
        style = "green" if one.matched == one.times else "red"
        table.add_row(
            one.scenario.name,
            one.variant,
            one.expected or "–",
            f"{one.violated} of {one.times}",
            f"[{style}]{one.matched} of {one.times}[/]",
        )
    console = output()
    console.print(table)
    for one in tries:
        for words in one.mismatches:
            console.print(
                f"{one.scenario.name} under {one.variant}: {words}", style="red", markup=False, soft_wrap=True
            )


def _ending(outcome: ScenarioOutcome) -> str:
    """The violations by name, or else what loss was permitted, or the verdict."""
    anomalies = outcome.verdict.anomalies
    violations = sorted({anomaly.name for anomaly in anomalies if anomaly.verdict == "violation"})
    if violations:
        return f"[red]{', '.join(violations)}[/]"
    clauses = sorted({a.clause for a in anomalies if a.name == "lost-committed-write" and a.clause})
    return f"lost, permitted: {', '.join(clauses)}" if clauses else outcome.verdict.valid
