"""``tidemark check --model``: judge a history as one of a register, a log, a set and the like."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tidemark.checkers.history.history import History
from tidemark.checkers.objects.workloads import NAMES, judge
from tidemark.checkers.verdict.result import Result
from tidemark.cli.exits import exit_code

model_option = click.option(
    "--model",
    type=click.Choice(NAMES),
    help="Judge the operations as those of such an object (docs/checking-your-own-history.md).",
)


def check_by_model(path: Path, history: History, model: str, *, as_json: bool) -> int:
    """Judge the history that was read from `path`, print the result, and give the exit code."""
    try:
        result = judge(history, model)
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None
    click.echo(json.dumps(result.to_json()) if as_json else "\n".join(_lines(result, model)))
    return exit_code([result.valid])


def _lines(result: Result, model: str) -> list[str]:
    lines = [f"{result.valid} as a history of {model}"]
    for name, part in result.parts.items():
        because = "" if part.unknown_because is None else f"; unknown because {part.unknown_because}"
        lines.append(f"  {name}: {part.valid}: {part.message}{because}")
    return lines
