"""``tidemark check``: judge a stored run, or anybody's history."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from checkers import HistoryFormatError, check
from harness.cli.exits import exit_code
from harness.cli.model import check_by_model, model_option
from harness.cli.options import contract_option, json_option
from harness.cli.show import print_verdict
from harness.runs.folder import load_history, store_verdict_again

EPILOG = """\b
Examples:
  tidemark check results/runs/kafka-0.10-1-30                 a run's folder
  tidemark check history.jsonl --contract durable --json      a file, by another promise
  tidemark check history.edn --model cas-register             is Jepsen's register linearizable?
"""


@click.command("check", epilog=EPILOG)
@click.argument("path", type=click.Path(path_type=Path))
@contract_option
@model_option
@json_option
def check_command(path: Path, contract: str | None, model: str | None, as_json: bool) -> int:
    """Check the history at PATH: a run's folder, or a history.jsonl (docs/history.md), client operations alone included."""
    if model is not None:
        if contract is not None:
            raise click.UsageError("a model makes no promise: --model or --contract, not both")
        return check_by_model(path, model, as_json=as_json)
    try:
        history = load_history(path)
    except HistoryFormatError as error:
        raise click.ClickException(f"{path}: {error}") from None
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be read ({error.strerror})") from None
    try:
        verdict = check(history, contract)
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None
    if path.is_dir() and contract is None:
        store_verdict_again(path, verdict, history)
    if as_json:
        click.echo(json.dumps(verdict.to_json()))
    else:
        print_verdict(verdict, Console())
    return exit_code([verdict.valid])
