"""``tidemark zoo``: Kafka's bugs that can be put back."""

from __future__ import annotations

import json

import click
from rich.table import Table

from tidemark.cli.exits import VALID
from tidemark.cli.options import json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.table_format import TEXT, format_option, print_table, refuse_with_json
from tidemark.harness.report.result_table import ResultTable
from tidemark.harness.zoo import Entry, ZooError, all_entries, find

EPILOG = """\b
Examples:
  tidemark zoo                        what there is
  tidemark zoo KAFKA-7128             one of them: what goes wrong, in which versions, and the commands that show it
  tidemark zoo missed-reign --json    the same for a script
  tidemark zoo --json                 all of them
  tidemark zoo --format markdown      the list for a page; also csv, latex"""


@click.command("zoo", epilog=EPILOG)
@click.argument("key", required=False)
@format_option
@json_option
def zoo_command(key: str | None, table_format: str, as_json: bool) -> int:
    """List the bugs of Kafka's replication that can be put back, or tell of one how to see it (docs/zoo.md)."""
    refuse_with_json(table_format, as_json=as_json, no_table="tidemark zoo without KEY prints" if key else "")
    with refused(ZooError, usage=True):
        entries = all_entries() if key is None else [find(key)]
    if as_json:
        told = [entry.to_json() for entry in entries]
        click.echo(json.dumps(told if key is None else told[0], indent=1))
    elif key is None:
        _list(entries, table_format)
    else:
        _show(entries[0])
    return VALID


def _list(entries: list[Entry], table_format: str) -> None:
    rows = [(one.key, one.title, one.variant, "yes" if one.scenario else "–") for one in entries]
    print_table(ResultTable(("bug", "title", "variant", "script"), rows), table_format)
    click.echo(f"{len(entries)} bugs; tidemark zoo KEY tells of one", err=table_format != TEXT)


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
