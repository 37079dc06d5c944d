"""``tidemark list``: which campaigns there are, and how far each has come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from tidemark.cli.campaign_place import CAMPAIGN, StoreAddress, error_words, place_of
from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import RESULTS, json_option
from tidemark.cli.output import output
from tidemark.cli.table_format import TEXT, format_option, print_table, refuse_with_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.harness.report.result_table import ResultTable, Value
    from tidemark.pipeline.folder.campaign_list import ListedCampaign

EPILOG = """\b
Examples:
  tidemark list                        every campaign in results/
  tidemark list /shared/campaigns
  tidemark list s3://BUCKET            those in a bucket, or below a place in it
  tidemark list --json | jq -r 'select(.runs < .expected) | .folder'     those that are not finished
  tidemark list --format csv           a line for each campaign; also latex, markdown"""


@click.command("list", epilog=EPILOG)
@click.argument("folder", type=CAMPAIGN, default=RESULTS)
@format_option
@json_option
def list_command(folder: Path | StoreAddress, *, table_format: str, as_json: bool) -> int:
    """List the campaigns in FOLDER (results unless told) and below it. It may be a place in an object store."""
    refuse_with_json(table_format, as_json=as_json)
    need(campaign=True)
    console = output(highlight=False, soft_wrap=True)
    all_found = _in_store(folder) if isinstance(folder, StoreAddress) else _in_folder(folder)
    if table_format != TEXT:
        print_table(_table(all_found), table_format)
        return VALID
    none = True
    for where, found in all_found:
        none = False
        if isinstance(found, str):
            if as_json:
                click.echo(json.dumps({"folder": where, "trouble": found}))
            else:
                console.print(f"[bold]{escape(where)}[/]")
                console.print(f"  {found}", markup=False)
        elif as_json:
            click.echo(json.dumps(found.to_json() | {"folder": where}))
        else:
            _print(where, found, console)
    if none and not as_json:
        click.echo(f"There is no campaign in {folder}.")
    return VALID


def _in_folder(folder: Path) -> Iterator[tuple[str, ListedCampaign | str]]:
    from tidemark.pipeline.folder.campaign_list import list_campaigns

    if not folder.is_dir():
        raise click.ClickException(f"{folder}: there is no such folder")
    for found in list_campaigns(folder):
        yield (str(found[0]), found[1]) if isinstance(found, tuple) else (str(found.folder), found)


def _in_store(address: StoreAddress) -> Iterator[tuple[str, ListedCampaign | str]]:
    place = place_of(address, whole_bucket=True)
    from tidemark.pipeline.store.working_copy import campaigns_below

    try:
        for where, found in campaigns_below(place):
            yield where.uri, found
    except OSError as error:
        raise click.ClickException(error_words(error)) from None


def _table(found: Iterable[tuple[str, ListedCampaign | str]]) -> ResultTable:
    """A line for each campaign and part; of one whose manifest cannot be read the folder and why."""
    from tidemark.harness.report.result_table import ResultTable

    about, numbers = ("begun", "world", "system", "profile"), ("seed>", "plans>", "runs>", "expected>")
    columns = ("folder", *about, *numbers, "violating", "unknown>", "errors>", "trouble")
    rows: list[tuple[Value, ...]] = []
    for where, one in found:
        if isinstance(one, str):
            rows.append((where, *[None] * (len(columns) - 2), one))
        else:
            counts = one.seed, one.plans, one.runs, one.expected
            told = where, one.begun, one.world, one.system, one.profile, *counts
            rows.append((*told, _violating(one), one.unknown, one.errors, one.trouble))
    return ResultTable(columns, rows)


def _violating(found: ListedCampaign) -> str:
    """Each variant, with how many of its runs violated something."""
    return ", ".join(f"{variant} {runs}" for variant, runs in found.violating.items())


def _print(place: str, found: ListedCampaign, console: Console) -> None:
    done = "complete" if found.runs == found.expected else f"{found.runs} of {found.expected} runs"
    where = "" if found.world == "sim" else f", {found.system} in containers"
    begun = f", begun {found.begun}" if found.begun else ""
    imported = found.world == "imported"
    what = f"{done}, {found.plans} plans of seed {found.seed} ({found.profile}){where}"
    if imported:
        what = f"{found.runs} imported {'history' if found.runs == 1 else 'histories'}"
    part, in_ = ("", "") if found.part_of is None else ("  and its part ", "  ")
    console.print(f"{part}[bold]{escape(place)}[/]: {escape(what)}{begun}")
    for day, plans, variants in found.asked[1:]:
        grown = f"{plans} histories of" if imported else f"{plans} plans under"
        console.print(f"{in_}  grown on {day} to {grown} {variants} variants")
    console.print(f"{in_}  runs with a violation: {_violating(found)}", markup=False)
    if found.unknown:
        console.print(f"{in_}  {found.unknown} unknown, {found.errors} of them raised")
    if found.trouble:
        console.print(f"{in_}  damaged: {found.trouble}", markup=False)
