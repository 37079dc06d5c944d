"""``tidemark scan``: what brokers' own logs and files show of losses that are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from tidemark.checkers.verdict.visible import brief, visible
from tidemark.cli.exits import ANOMALY, VALID
from tidemark.cli.options import json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, argument, shared, taking

if TYPE_CHECKING:
    from rich.console import Console

    from tidemark.harness.scan.scan import Scanned

LONGEST = 600
"""Of a line so many characters are printed; JSON has all of it."""

EPILOG = """\b
Examples:
  tidemark scan logs/                      a subfolder for each broker, or all in one
  tidemark scan logs/ --json
  tidemark scan results/runs/X/nodes       what a run on real brokers kept (archives are looked into)

\b
Exit codes: 0 nothing found, 1 something found, 254 no folder, or nothing of a broker in it."""


class ScanOptions(Options):
    """What ``tidemark scan`` can be asked."""

    folder: Path = argument(type=click.Path(path_type=Path))
    as_json: bool = shared(json_option)


@click.command("scan", epilog=EPILOG)
@taking(ScanOptions)
def scan_command(options: ScanOptions) -> int:
    """Look through brokers' logs in FOLDER for signs of known ways to lose records (docs/for-operators.md).

    Copy server.log, state-change.log and controller.log of all brokers into it, old ones too. If segments and checkpoints are there
    as well, replicas are compared. Nothing is changed, and nothing is sent anywhere.
    """
    from tidemark.harness.scan.brokers_folder import BrokersFolderError
    from tidemark.harness.scan.scan import scan_folder

    console = output(stderr=True)
    with refused(BrokersFolderError), refused(OSError, of=options.folder), console.status("looking") as status:
        scanned = scan_folder(options.folder, lambda what: status.update(f"reading {escape(what)}"))
    if options.as_json:
        click.echo(json.dumps(scanned.to_json()))
    else:
        _print(scanned, output(highlight=False))
    return ANOMALY if scanned.findings else VALID


def _print(scanned: Scanned, console: Console) -> None:
    for one in scanned.findings:
        when = one.time or "in a file"
        more = f" ({one.times} times; the first)" if one.times > 1 else ""
        console.print(
            f"[bold red]{one.name}[/] {escape(one.partition)} on broker {escape(one.broker)}, {when}{more}",
            soft_wrap=True,
        )
        where = f"{one.file}:{one.number}" if one.number else one.file
        console.print(f"  {escape(visible(where))}\n    {escape(brief(visible(one.line), LONGEST))}", soft_wrap=True)
        console.print(f"  That is: {escape(visible(one.meaning))}. See {one.page}", soft_wrap=True)
    count = len(scanned.findings)
    found = "nothing found" if not count else f"{count} {'finding' if count == 1 else 'findings'}"
    console.print(
        f"{found}: {len(scanned.brokers)} brokers, {scanned.logs} logs with {scanned.lines:,} lines of Kafka's, "
        f"segments of {scanned.replicas} replicas",
        soft_wrap=True,
    )
    if scanned.unattributed:
        console.print(f"{scanned.unattributed:,} lines name no broker: put each broker's logs in a folder of its own")
