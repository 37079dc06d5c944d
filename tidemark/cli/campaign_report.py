"""What ``tidemark compare`` and ``report`` say of a campaign: the comparison on the terminal, and its page."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape
from rich.table import Table

from tidemark.cli.exits import ANOMALY, INTERNAL_ERROR, UNKNOWN, VALID
from tidemark.cli.for_ci import FAILED, PASSED, SKIPPED, Case, CiOptions
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.table_format import TEXT, print_comparison_as
from tidemark.cli.writing_to import writing_to

if TYPE_CHECKING:
    from tidemark.harness.report.comparison import Comparison, PartLine, RunLine
    from tidemark.pipeline.engines.engine import Engine

MOST_LISTED = 2000
"""So many runs are listed one by one on a comparison's page; more would make it slow to open."""


def summarise(
    folder: Path,
    baseline: str | None,
    ci: CiOptions | None = None,
    master: str | None = None,
    table_format: str = TEXT,
    *,
    report: bool,
    as_json: bool,
) -> Comparison:
    """Print the comparison of a campaign, or of one part of it, write its page if wanted, and return it.

    Raises:
        click.ClickException: nothing to compare.
    """
    engine, comparison = _compared(folder, baseline, master)
    if as_json:
        click.echo(json.dumps(comparison.to_json()))
    elif table_format != TEXT:
        print_comparison_as(comparison, table_format)
    else:
        _print(comparison)
    if ci is not None:
        ci.tell(cases(comparison))
    if report:
        click.echo(f"Report: {_write_page(engine, comparison, folder, {folder})}", err=as_json or table_format != TEXT)
    return comparison


def summarise_all(folder: Path, baseline: str | None, *, as_json: bool) -> None:
    """Print the comparison of a campaign, of one of several parts that of each, and write the pages.

    Raises:
        click.ClickException: nothing to compare.
    """
    from tidemark.pipeline.folder.campaign_parts import several_parts
    from tidemark.pipeline.folder.finished_chunks import take_stock

    with refused():
        parts = several_parts(folder)
    begun = [part for part in parts if take_stock(part.folder, part.manifest, ()).finished]
    if not begun:
        summarise(folder, baseline, report=True, as_json=as_json)
        return
    pages = {part.folder for part in begun}
    found = []
    for part in begun:
        engine, comparison = _compared(part.folder, baseline, None)
        found.append(comparison)
        if not as_json:
            click.secho(f"Part {part.title}, in {part.folder}", bold=True)
            _print(comparison)
        click.echo(f"Report: {_write_page(engine, comparison, part.folder, pages)}", err=as_json)
    if as_json:
        click.echo(json.dumps(found[0].to_json() | {"parts": [comparison.to_json() for comparison in found[1:]]}))
    else:
        from tidemark.pipeline.compare.part_lines import part_lines

        _print_parts(part_lines(folder, pages))


def _compared(folder: Path, baseline: str | None, master: str | None) -> tuple[Engine, Comparison]:
    """The comparison of the variants of one folder, and the engine that made it."""
    from tidemark.pipeline.folder.manifest import Manifest

    with refused():
        Manifest.read(folder)  # before all of Spark is loaded for nothing
        from tidemark.pipeline.compare.compare import compare
        from tidemark.pipeline.engines.spark_or_not import reading_engine

        engine = reading_engine(master, folder)
        return engine, compare(engine, folder, baseline)


def _print(comparison: Comparison) -> None:
    from tidemark.pipeline.compare.compare_table import print_comparison

    print_comparison(comparison, output())


def _write_page(engine: Engine, comparison: Comparison, folder: Path, pages: Collection[Path]) -> Path:
    """The page of a campaign or of one part; `pages` are the folders of parts that have or get one."""
    from tidemark.harness.report.pages import render
    from tidemark.harness.why import deciding_faults_of_example, why_of_example
    from tidemark.pipeline.compare.examples import choose_examples
    from tidemark.pipeline.compare.faults_present import faults_present
    from tidemark.pipeline.compare.not_reached import not_reached
    from tidemark.pipeline.compare.other_causes import other_causes
    from tidemark.pipeline.compare.part_lines import part_lines

    with refused():
        examples = choose_examples(engine, folder)
        lines, more = _lines(comparison, folder)
        with writing_to(folder):
            return render(
                replace(
                    comparison,
                    faults=faults_present(folder),
                    other_causes=other_causes(folder),
                    not_reached=not_reached(comparison),
                ),
                examples,
                folder,
                why_of_example,
                deciding_faults_of_example,
                lines,
                more_lines=more,
                parts=part_lines(folder, pages),
            )


def _print_parts(lines: list[PartLine]) -> None:
    from tidemark.harness.report.words import interval, percent

    table = Table(
        title="\n[bold]its parts: runs with a violation, of those judged[/]",
        title_justify="left",
        title_style="",
        box=None,
        padding=(0, 1, 0, 0),
    )
    table.add_column("part", overflow="fold")
    table.add_column("variant", overflow="fold")
    for column in ("runs", "violating", "of judged", "95 %"):
        table.add_column(column, justify="right")
    for line in lines:
        rate = line.violating
        share = (percent(rate.share), interval(rate)) if rate.runs else ("–", "–")
        table.add_row(
            escape(line.part), escape(line.variant), f"{line.runs} of {line.expected}", str(rate.hits), *share
        )
    output(highlight=False).print(table)


def _lines(comparison: Comparison, folder: Path) -> tuple[list[RunLine], bool]:
    """The runs for a comparison's page: those that broke their promise or could not be judged, by variant and plan; and whether
    there are more.
    """
    from tidemark.harness.report.comparison import RunLine
    from tidemark.pipeline.folder.run_list import Wanted, list_runs

    wanted = []
    if any(variant.violating.hits for variant in comparison.variants):
        wanted.append(Wanted())
    if any(variant.unknown for variant in comparison.variants):
        wanted.append(Wanted(unknown=True))
    found = chain.from_iterable(list_runs(folder, one) for one in wanted)
    lines = [
        RunLine(run.variant, run.plan, run.valid, run.anomalies, run.first_violation_us, run.because)
        for run in islice(found, MOST_LISTED)
    ]
    return lines, next(found, None) is not None


def cases(comparison: Comparison) -> list[Case]:
    """Each variant as a case: it failed if any of its runs broke its promise, and is skipped if none could be judged."""
    from tidemark.harness.report.answer import answers

    found = []
    for variant, answer in zip(comparison.variants, answers(comparison), strict=True):
        outcome = FAILED if variant.violating.hits else PASSED if variant.judged else SKIPPED
        message = "" if outcome == PASSED else answer.plain
        found.append(Case(f"tidemark compare {comparison.campaign}", variant.variant, outcome, message, [answer.plain]))
    return found


def exit_code_of(comparison: Comparison) -> int:
    """What --fail-on-violation is told: a violation, or why nobody can say that there is none."""
    if any(variant.violating.hits for variant in comparison.variants):
        return ANOMALY
    if any(variant.errors for variant in comparison.variants):
        return INTERNAL_ERROR
    return VALID if all(variant.judged for variant in comparison.variants) else UNKNOWN
