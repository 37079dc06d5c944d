"""``tidemark runs``: the runs of a campaign, one by one, with the command that has each again."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from tidemark.checkers.verdict.visible import visible
from tidemark.cli.campaign_place import CAMPAIGN, StoreAddress, at_hand
from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.table_format import TEXT, format_option, print_table, refuse_with_json
from tidemark.cli.typed_options import Options, argument, flag, option, shared, taking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.harness.report.result_table import ResultTable, Value
    from tidemark.pipeline.folder.run_list import ListedRun

EPILOG = """\b
Examples:
  tidemark runs results/demo                                        every run that broke its promise
  tidemark runs results/demo --variant kafka-2.0 --anomaly divergence
  tidemark runs results/demo --anomaly lost-committed-write --verdict permitted
  tidemark runs results/demo --anomaly strong-isr                   near misses, too
  tidemark runs results/demo --mark reign-skipped-by-leader         what came to a mark (tidemark compare tells of them)
  tidemark runs results/demo --unknown                              what nobody could judge, and why
  tidemark runs s3://BUCKET/night                                   of a campaign in an object store
  tidemark runs results/demo --json --limit 0 | jq -r .command      one JSON object a line, all of them
  tidemark runs results/demo --format csv --limit 0 > runs.csv      also latex, markdown"""


class RunsOptions(Options):
    """What ``tidemark runs`` can be asked."""

    campaign: Path | StoreAddress = argument(type=CAMPAIGN)
    variant: str | None = option("Only of this variant.")
    anomaly: str | None = option("Only runs with this anomaly (tidemark anomalies lists them), or lost-acked-record.")
    verdict: str | None = option(
        "Only runs with an anomaly that was judged so.",
        type=click.Choice(["violation", "permitted", "near-miss", "informational"]),
    )
    mark: str | None = option("Only runs that came to this mark.")
    unknown: bool = flag("Those that nobody could judge, instead.")
    limit: int = option("Print so many at most; 0 prints all.", type=click.IntRange(min=0), default=50)
    table_format: str = shared(format_option)
    as_json: bool = shared(json_option)


@click.command("runs", epilog=EPILOG)
@taking(RunsOptions)
def runs_command(options: RunsOptions) -> int:
    """List the runs of a campaign: those that broke their promise, unless other ones are asked for."""
    refuse_with_json(options.table_format, as_json=options.as_json)
    need(campaign=True)
    from tidemark.pipeline.folder.run_list import Wanted, list_runs_of_all_parts

    wanted = Wanted(options.variant, options.anomaly, options.verdict, options.mark, options.unknown)
    if wanted.unknown and (wanted.anomaly or wanted.verdict or wanted.mark):
        raise click.UsageError("--unknown stands alone, or with --variant")
    folder = at_hand(options.campaign, "runs", "anomalies")
    with refused():
        found = list_runs_of_all_parts(folder, wanted)
        first = islice(found, options.limit or None)
        plain = options.table_format == TEXT
        shown = 0
        if not plain:
            table = _table([*first])
            shown = len(table.rows)
            print_table(table, options.table_format)
        for run in first:
            shown += 1
            _print(run, as_json=options.as_json)
        if not options.as_json:
            more = sum(1 for _ in found)
            if shown == 0:
                click.echo("No run is of this kind.", err=not plain)
            elif more:
                click.echo(f"… and {more} more: --limit 0 prints all.", err=not plain)
    return VALID


def _print(run: ListedRun, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(run.to_json()))
        return
    told = _of(run, "violation")
    told += [f"({verdict}: {name})" for name, verdict, _ in run.anomalies if verdict != "violation"]
    when = "" if run.first_violation_us is None else f" at {run.first_violation_us / 1e6:.2f} s"
    faults = "" if run.faults is None else f", {run.faults} faults"
    console = output(highlight=False, soft_wrap=True)
    part = f" ({run.part_title})" if run.part_title else ""
    what = escape(f"{part}{faults}{when}: {', '.join(told) or run.valid}")
    console.print(f"[bold]{escape(run.variant)}, plan {run.plan}[/]{what}")
    if run.because:
        console.print(f"  because {visible(run.because)}", markup=False)
    console.print(f"  {visible(run.command)}", markup=False)


def _of(run: ListedRun, wanted: str) -> list[str]:
    """Its anomalies of that verdict, each with how often."""
    return [name if count == 1 else f"{name} ×{count}" for name, verdict, count in run.anomalies if verdict == wanted]


def _table(runs: Sequence[ListedRun]) -> ResultTable:
    """A line for each; the time of the first violation in seconds of the run."""
    from tidemark.harness.report.result_table import ResultTable

    several = any(run.part_title for run in runs)
    columns = (
        "variant",
        "plan>",
        "faults>",
        "verdict",
        "violations",
        "permitted",
        "first_violation_s>",
        "because",
        "command",
    )
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        when = None if run.first_violation_us is None else run.first_violation_us / 1e6
        found = (", ".join(_of(run, verdict)) for verdict in ("violation", "permitted"))
        part = (run.part_title,) if several else ()
        rows.append((*part, run.variant, run.plan, run.faults, run.valid, *found, when, run.because, run.command))
    return ResultTable(("part", *columns) if several else columns, rows)
