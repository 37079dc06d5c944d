"""``tidemark report``: summary and page of a campaign or of a stored run."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from checkers import HistoryFormatError, check
from harness.cli.extras import need
from harness.cli.options import json_option
from harness.runs.folder import HISTORY, PLAN, REPORT, load_history
from nemesis import PlanError, read_plan

EPILOG = """\b
Examples:
  tidemark report results/demo                       a campaign: table on the terminal, report.html in the folder
  tidemark report results/runs/kafka-0.10-1-30       one run
"""


@click.command("report", epilog=EPILOG)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--baseline", type=str, help="Variant the others are compared with.  [default: the first]")
@json_option
def report_command(folder: Path, baseline: str | None, as_json: bool) -> int:
    """Write report.html for FOLDER, which holds a campaign or a run."""
    if (folder / HISTORY).is_file():
        need(report=True)
        _report_run(folder)
    elif (folder / "manifest.json").is_file():
        need(campaign=True, report=True)
        summarise(folder, baseline, as_json, report=True)
    else:
        raise click.ClickException(f"{folder} holds neither a campaign (manifest.json) nor a run ({HISTORY})")
    return 0


def _report_run(folder: Path) -> None:
    from harness.report.page import render_run

    try:
        history = load_history(folder)
        plan = read_plan(folder / PLAN).to_json()
    except (HistoryFormatError, PlanError, OSError) as error:
        raise click.ClickException(f"{folder}: {error}") from None
    render_run(plan, history, check(history), folder / REPORT)
    click.echo(str(folder / REPORT))


def summarise(folder: Path, baseline: str | None, as_json: bool, *, report: bool, master: str | None = None) -> int:
    """Print the comparison of a finished campaign, write its page if wanted; returns the number of violating runs.

    Raises:
        click.ClickException: nothing to compare.
    """
    from pipeline.compare import NothingToCompareError, compare
    from pipeline.compare_table import print_comparison
    from pipeline.java import JavaNotFoundError
    from pipeline.session import spark_session

    try:
        spark = spark_session(master)
        comparison = compare(spark, folder, baseline)
    except (NothingToCompareError, JavaNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(comparison.to_json()))
    else:
        print_comparison(comparison, Console())
    if report:
        from harness.report.page import render
        from pipeline.examples import RunChangedError, choose_examples

        try:
            page = render(comparison, choose_examples(spark, folder), folder)
        except RunChangedError as error:
            raise click.ClickException(str(error)) from None
        click.echo(f"Report: {page}", err=as_json)
    return sum(variant.violating.hits for variant in comparison.variants)
