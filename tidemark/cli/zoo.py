"""``tidemark zoo``: Kafka's bugs that can be put back."""

from __future__ import annotations

import json

import click
from rich.table import Table

from tidemark.cli.exits import VALID
from tidemark.cli.options import json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.harness.zoo import Entry, ZooError, all_entries, find

EPILOG = """\b
Examples:
  tidemark zoo                        what there is
  tidemark zoo KAFKA-7128             one of them: what goes wrong, in which versions, and the commands that show it
  tidemark zoo missed-reign --json    the same for a script
  tidemark zoo --json                 all of them"""


@click.command("zoo", epilog=EPILOG)
@click.argument("key", required=False)
@json_option
def zoo_command(key: str | None, as_json: bool) -> int:
    """List the bugs of Kafka's replication that can be put back, or tell of one how to see it (docs/zoo.md)."""
    with refused(ZooError, usage=True):
        entries = all_entries() if key is None else [find(key)]
    if as_json:
        told = [entry.to_json() for entry in entries]
        click.echo(json.dumps(told if key is None else told[0], indent=1))
    elif key is None:
        _list(entries)
    else:
        _show(entries[0])
    return VALID


def _list(entries: list[Entry]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("bug", no_wrap=True)
    table.add_column("", overflow="fold")
    table.add_column("variant", overflow="fold")
    table.add_column("script")
    for entry in entries:
        table.add_row(entry.key, entry.title, entry.variant, "yes" if entry.scenario else "–")
    output().print(table)
    click.echo(f"{len(entries)} bugs; tidemark zoo KEY tells of one")


def _show(entry: Entry) -> None:
    table = Table.grid(padding=(0, 2))
    presets = ", ".join(entry.presets()) or "none"
    rows = [
        ("", entry.wrong),
        ("affected", entry.affected),
        ("fixed", entry.fixed),
        ("where", entry.code),
        ("sources", ", ".join(entry.sources)),
        ("presets", presets + (f"; {', '.join(entry.had)} had it and are without" if entry.had else "")),
        ("variant", f"{entry.variant}; without it {entry.repaired}"),
        ("shows as", ", ".join(entry.anomalies) or "any violation"),
    ]
    rows += [("not in plans", entry.missing)] if entry.missing else []
    for row in rows:
        table.add_row(*row)
    click.echo(f"{entry.key}: {entry.title}\n")
    output(highlight=False).print(table)
    click.echo("\n" + "\n".join(f"  {line}" for line in entry.commands()))
