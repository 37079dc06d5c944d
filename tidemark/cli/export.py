"""``tidemark export``: a history for Jepsen's checkers to read."""

from __future__ import annotations

from pathlib import Path

import click

from tidemark.cli.check import read

EPILOG = """\b
Examples:
  tidemark export results/runs/kafka-0.10-1-30 > history.edn      a run, as Jepsen would have written it
  tidemark export history.jsonl.gz | head                         anybody's
"""


@click.command("export", epilog=EPILOG)
@click.argument("path", type=click.Path(path_type=Path))
def export_command(path: Path) -> int:
    """Print the history at PATH as EDN, an operation per line: clients, strikes and healings, without the replicas' trace.

    EDN is printed with every operation and every field as it was.
    """
    from tidemark.checkers.history.edn_lines import edn_lines

    for line in edn_lines(read(path, forms=True)):
        click.echo(line)
    return 0
