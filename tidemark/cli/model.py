"""``tidemark check --model``: judge a history as one of a register, a log, a set and the like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tidemark.checkers.history.history import History
from tidemark.checkers.objects.values import Value
from tidemark.checkers.objects.workloads import NAMES, REGISTERS, judge, models_for
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.visible import brief, visible
from tidemark.cli.exits import exit_code
from tidemark.cli.for_ci import CiOptions, case_of_result
from tidemark.cli.refused import refused


class JsonValue(click.ParamType[Value]):
    """A value as JSON has it, or one word."""

    name = "value"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """``3`` is a number, ``"3"`` and ``x`` are strings."""
        try:
            return json.loads(value)
        except ValueError:
            if value[:1] in ("[", "{", '"'):
                self.fail(f"{value} is no JSON", param, ctx)
            return value


initial_option = click.option(
    "--initial",
    type=JsonValue(),
    help="What a register, or each key, holds before the first write: JSON, or a word.  [default: null]",
)
model_option = click.option(
    "--model",
    type=click.Choice(NAMES),
    help="Judge the operations as those of such an object (docs/checking-your-own-history.md).",
)

LONGEST = 1_000
"""So many characters of a sentence are printed; --json has all of them."""


def refuse_with_model(model: str | None, contract: str | None, checkers: Sequence[str], initial: Value = None) -> None:
    """A model judges by itself.

    Raises:
        click.UsageError: something else is to judge as well.
    """
    if model is not None and contract is not None:
        raise click.UsageError("a model makes no promise: --model or --contract, not both")
    if model is not None and checkers:
        raise click.UsageError("a checker judges beside ours, and a model instead of them: --model or --checker")
    if initial is not None and model not in REGISTERS:
        raise click.UsageError(f"--initial is what a register holds: it goes with --model {', '.join(REGISTERS)}")


def told_models(history: History) -> list[str]:
    """Which models could judge operations that are none on logs, in a line; none if they are."""
    models = models_for(history)
    if not models:
        return []
    words = " or ".join(f"--model {name}" for name in models)
    return [f"these are no operations on logs: {words} judges such (docs/checking-your-own-history.md)"]


def check_by_model(path: Path, history: History, model: str, ci: CiOptions, *, initial: Value, as_json: bool) -> int:
    """Judge the history that was read from `path`, print the result, tell it to CI, and give the exit code."""
    with refused(ValueError, of=path):
        result = judge(history, model, initial=initial)
    ci.tell([case_of_result(result, f"tidemark check --model {model}", str(path))])
    click.echo(json.dumps(result.to_json()) if as_json else "\n".join(_lines(result, model)))
    return exit_code([result.valid])


def _lines(result: Result, model: str) -> list[str]:
    lines = [f"{result.valid} as a history of {model}"]
    for name, part in result.parts.items():
        because = "" if part.unknown_because is None else f"; unknown because {part.unknown_because}"
        lines.append(f"  {name}: {part.valid}: {brief(visible(part.message), LONGEST)}{because}")
    return lines
