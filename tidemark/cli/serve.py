"""``tidemark serve``: a results folder in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from tidemark.cli.exits import VALID
from tidemark.cli.extras import need
from tidemark.cli.options import RESULTS
from tidemark.cli.refused import refused

EPILOG = """\b
Examples:
  tidemark serve                           results/, at http://127.0.0.1:8700/
  tidemark serve results/demo --port 0     another folder, at any free port
  tidemark compare --plans 2000 & tidemark serve      watch a campaign while it runs

\b
It listens on this machine alone, and only reads. From another machine: ssh -L 8700:127.0.0.1:8700 HOST."""


@click.command("serve", epilog=EPILOG)
@click.argument("folder", type=click.Path(path_type=Path), default=RESULTS)
@click.option("--port", type=click.IntRange(0, 65_535), default=8700, show_default=True, help="0 takes a free one.")
def serve_command(folder: Path, port: int) -> int:
    """Show the campaigns and runs of FOLDER in a browser, a campaign that runs included, until Ctrl-C."""
    need(report=True)
    if not folder.is_dir():
        raise click.ClickException(f"{folder} is no folder; tidemark run and tidemark compare write results")
    from tidemark.served.server import HOST, NoPortError, server_of

    with refused(NoPortError):
        server = server_of(folder, port)
    with server:
        click.echo(f"http://{HOST}:{server.server_address[1]}/ shows {folder}; Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("")
    return VALID
