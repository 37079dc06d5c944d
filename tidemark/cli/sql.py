"""``tidemark sql``: ask a campaign's tables in Spark SQL."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from tidemark.cli.campaign_place import CAMPAIGN, StoreAddress, at_hand
from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import SparkMaster, json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused

EPILOG = """\b
Examples:
  tidemark sql results/demo "SELECT variant, valid, count(*) AS runs FROM runs GROUP BY ALL ORDER BY ALL"
  tidemark sql results/demo "SELECT plan, faults, first_violation_us FROM runs WHERE violations > 0 ORDER BY faults LIMIT 10"
  tidemark sql results/demo "SELECT mark, count(*) AS runs FROM marks GROUP BY mark ORDER BY runs" --json

\b
Tables: runs, anomalies, ops, trace, and marks (campaign, variant, plan, mark); of what tidemark check found rejudged,
rejudged_anomalies and changes. docs/results-folder.md has their columns, docs/querying.md more questions."""


@click.command("sql", epilog=EPILOG)
@click.argument("campaign", type=CAMPAIGN)
@click.argument("question")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Print so many rows at most; 0 prints all.",
)
@click.option("--master", type=SparkMaster(), help="Spark master.  [default: local[*]]")
@json_option
def sql_command(campaign: Path | StoreAddress, question: str, limit: int, master: str | None, *, as_json: bool) -> int:
    """Answer QUESTION, a SELECT in Spark SQL, from the tables of CAMPAIGN."""
    need(campaign=True, spark=True)
    from tidemark.pipeline.engines.query import ask
    from tidemark.pipeline.engines.spark_or_not import reading_session
    from tidemark.pipeline.folder.found_campaign import campaign_in

    folder = at_hand(campaign)
    with refused():
        campaign_in(folder)  # before a JVM is started for nothing
        answer = ask(reading_session(master, folder), folder, question, limit)
    if as_json:
        for row in answer.rows:
            click.echo(json.dumps(dict(zip(answer.columns, row, strict=True))))
        return VALID
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in answer.columns:
        table.add_column(escape(column), overflow="fold")
    for row in answer.rows:
        table.add_row(*("–" if value is None else escape(str(value)) for value in row))
    output(highlight=False).print(table)
    if answer.more:
        click.echo("… and more: --limit 0 prints all.")
    return VALID
