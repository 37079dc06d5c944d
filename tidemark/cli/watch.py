"""``tidemark watch``: a campaign while it runs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tidemark.cli.campaign_place import CAMPAIGN, StoreAddress, place_of
from tidemark.cli.exits import UNKNOWN, VALID
from tidemark.cli.extras import need
from tidemark.cli.options import RealRange, SparkMaster, json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.pipeline.watch.watch import Violation, Watched

EPILOG = """\b
Examples:
  tidemark compare --plans 20000 --out results/night &
  tidemark watch results/night                        until it ends
  tidemark watch results/night > progress.log         a line for whatever is new
  tidemark watch results/night --json | jq .runs      one JSON object a line

\b
It may begin before the campaign does. It exits 0 when the campaign is complete, and 2 when nobody works on it any more and runs are
missing. It starts a Spark of its own; tidemark serve shows a campaign without."""

WORDS: Final = {
    "waiting": "there is no campaign yet",
    "starting": "counting what is there",
    "running": "running",
    "finished": "complete",
    "interrupted": "interrupted",
}


@click.command("watch", epilog=EPILOG)
@click.argument("campaign", type=CAMPAIGN)
@click.option(
    "--every", type=RealRange(min=0.1), default=2.0, show_default=True, help="Look for news so often, seconds."
)
@click.option("--master", type=SparkMaster(), help="Spark master.  [default: none up to 1,000 runs, then local[1]]")
@json_option
def watch_command(campaign: Path | StoreAddress, every: float, master: str | None, *, as_json: bool) -> int:
    """Follow CAMPAIGN while it runs, until it ends: rates with 95 % intervals, the newest violations, pace, time left."""
    need(campaign=True)
    from tidemark.pipeline.watch.watch import watch_campaign

    folder = _run_here(campaign) if isinstance(campaign, StoreAddress) else _at_work(campaign)
    console = output(highlight=False)
    with refused(), closing(watch_campaign(folder, master=master, seconds=every)) as told:
        if as_json:
            last = _as_json(told)
        elif console.is_terminal:
            last = _on_screen(told, console)
        else:
            last = _in_lines(told)
    if last.status == "finished":
        return VALID
    if not as_json:
        where = campaign if isinstance(campaign, StoreAddress) else folder
        click.echo(
            f"Nobody works on {where} here, and {last.expected - last.runs} runs are missing: "
            "the command that ran it goes on with it."
        )
    return UNKNOWN


def _at_work(campaign: Path) -> Path:
    """The folder of the part on which somebody works, in a campaign of several; else the campaign's."""
    from tidemark.pipeline.folder.campaign_parts import added_folders
    from tidemark.pipeline.folder.lock_held import is_at_work

    if is_at_work(campaign):
        return campaign
    return next((part for part in added_folders(campaign) if is_at_work(part)), campaign)


def _run_here(address: StoreAddress) -> Path:
    """The working copy of a campaign that is run on this machine.

    Raises:
        click.ClickException: None is.
    """
    place = place_of(address)
    from tidemark.pipeline.folder.lock_held import is_at_work

    folder = place.working_copy()
    if not is_at_work(folder):
        raise click.ClickException(
            f"Nobody on this machine runs {place.uri}: a campaign in a store is watched where it is run, and tidemark list "
            f"{place.uri} says how far it has come."
        )
    return folder


def _changes(told: Iterator[Watched]) -> Iterator[Watched]:
    """Only what is new."""
    before = None
    for now in told:
        if (now.status, now.runs) != before:
            before = (now.status, now.runs)
            yield now


def _as_json(told: Iterator[Watched]) -> Watched:
    for now in _changes(told):
        click.echo(json.dumps(now.to_json()))
    return now


def _in_lines(told: Iterator[Watched]) -> Watched:
    seen: set[tuple[str, int]] = set()
    console = Console(highlight=False, width=200)
    for now in _changes(told):
        if now.status in ("waiting", "starting"):
            click.echo(f"{now.folder}: {WORDS[now.status]}")
            continue
        click.echo(_line(now))
        for violation in reversed(now.newest):
            if (violation.run.variant, violation.run.plan) not in seen:
                seen.add((violation.run.variant, violation.run.plan))
                click.echo(f"  {_words(violation)}: {violation.command}")
    console.print(_table(now))
    return now


def _on_screen(told: Iterator[Watched], console: Console) -> Watched:
    with Live(console=console, auto_refresh=False) as live:
        for now in told:
            live.update(_screen(now), refresh=True)
    return now


def _screen(now: Watched) -> Group:
    if now.status == "waiting":
        return Group(Text(f"There is no campaign in {now.folder} yet; waiting for it (Ctrl-C ends)."))
    parts: list[Text | Table] = [Text(_line(now), style="bold"), _table(now)]
    if now.newest:
        parts.append(Text("newest violations", style="bold"))
    for violation in now.newest:
        parts += [Text(_words(violation)), Text(f"  {violation.command}", style="dim")]
    return Group(*parts)


def _line(now: Watched) -> str:
    pace = "" if now.runs_a_second is None else f", {now.runs_a_second:.1f} runs/s"
    left = "" if now.seconds_left is None else f", {_time(now.seconds_left)} left"
    found = ", ".join(f"{one.variant} {one.violating.hits}" for one in now.variants)
    found = f"; with a violation: {found}" if found else ""
    return f"{now.folder}: {WORDS[now.status]}, {now.runs} of {now.expected} runs{pace}{left}{found}"


def _words(violation: Violation) -> str:
    run = violation.run
    when = "" if run.first_us is None else f" at {run.first_us / 1e6:.2f} s"
    return f"{run.variant}, plan {run.plan}{when}: {', '.join(run.anomalies)}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes}:{rest:02}"


def _table(now: Watched) -> Table:
    """A row for each variant, and below it for each anomaly that violated something, or was permitted."""
    from tidemark.harness.report.words import interval, percent

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for column in ("runs", "unknown", "violating", "of judged", "95 %", "permitted"):
        table.add_column(column, justify="right")
    for one in now.variants:
        unknown = f"{one.violating.unknown}" + (f" ({one.errors} raised)" if one.errors else "")
        rate = one.violating
        table.add_row(
            f"[bold]{escape(one.variant)}[/]",
            f"{one.runs}/{one.plans}",
            unknown,
            str(rate.hits),
            percent(rate.share) if rate.runs else "–",
            interval(rate) if rate.runs else "–",
            str(one.permitting.hits),
        )
        for name, violation, permitted in one.anomalies:
            if violation.hits or permitted.hits:
                share = (percent(violation.share), interval(violation)) if violation.hits else ("", "")
                table.add_row(f"  {escape(name)}", "", "", str(violation.hits), *share, str(permitted.hits))
    return table
