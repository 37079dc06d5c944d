"""``tidemark check --model``: judge a history as one of a register, a log, a set and the like."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tidemark.checkers.history.history import History
from tidemark.checkers.objects.transactions.consistency import MODELS
from tidemark.checkers.objects.values import Value
from tidemark.checkers.objects.workloads import NAMES, Asked, judge
from tidemark.checkers.objects.workloads.by_name import REGISTERS, TRANSACTIONS
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.visible import brief, visible
from tidemark.cli.exits import exit_code
from tidemark.cli.for_ci import CiOptions, case_of_result
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, flag, option


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


model_option = click.option(
    "--model",
    type=click.Choice(NAMES),
    help="Judge the operations as those of such an object (docs/checking-your-own-history.md).",
)

LONGEST = 1_000
"""So many characters of a sentence are printed; --json has all of them."""


class ModelOptions(Options):
    """What some models can be told besides."""

    initial: Any = option(
        "register, cas-register: what it holds before the first write: JSON, or a word.  [default: null]",
        type=JsonValue(),
    )
    consistency: str | None = option(
        "list-append, rw-register: the consistency model that is promised.  [default: strict-serializable]",
        type=click.Choice(list(MODELS)),
        metavar="MODEL",
    )
    keys_are: tuple[str, ...] = option(
        "rw-register: what every key by itself is, which orders its values; may be given twice.",
        type=click.Choice(["sequential", "linearizable"]),
        multiple=True,
    )
    total: int | None = option("bank: what there is in all accounts.  [default: what the first read shows]", type=int)
    negative_balances: bool = flag("bank: an account may have less than nothing.")

    def asked(self, model: str | None) -> Asked:
        """What the model is told.

        Raises:
            click.UsageError: it is not for this one.
        """
        whose = {"initial": REGISTERS, "consistency": TRANSACTIONS, "keys_are": ("rw-register",)}
        for name, word in self.typed.items():
            models = whose.get(name, ("bank",))
            if model not in models:
                raise click.UsageError(f"{word} is for --model {' or '.join(models)}")
        return Asked(self.initial, self.consistency, self.keys_are, self.total, self.negative_balances)

    @property
    def words(self) -> str:
        """What was typed of them, as a shell takes it."""
        words = []
        for name, word in self.typed.items():
            value = getattr(self, name)
            if value is True and name != "initial":
                words.append(word)
            else:
                each = value if isinstance(value, tuple) else (json.dumps(value) if name == "initial" else str(value),)
                words += [part for one in each for part in (word, shlex.quote(one))]
        return "".join(f" {one}" for one in words)


def refuse_with_model(model: str | None, contract: str | None, checkers: Sequence[str]) -> None:
    """A model judges by itself.

    Raises:
        click.UsageError: something else is to judge as well.
    """
    if model is not None and contract is not None:
        raise click.UsageError("a model makes no promise: --model or --contract, not both")
    if model is not None and checkers:
        raise click.UsageError("a checker judges beside ours, and a model instead of them: --model or --checker")


def check_by_model(path: Path, history: History, model: str, asked: Asked, ci: CiOptions, *, as_json: bool) -> int:
    """Judge the history that was read from `path`, print the result, tell it to CI, and give the exit code."""
    with refused(ValueError, of=path):
        result = judge(history, model, asked=asked)
    ci.tell([case_of_result(result, f"tidemark check --model {model}", str(path))])
    click.echo(json.dumps(result.to_json()) if as_json else "\n".join(_lines(result, model)))
    return exit_code([result.valid])


def _lines(result: Result, model: str) -> list[str]:
    return [f"{result.valid} as a history of {model}", *_parts(result, "  ")]


def _parts(result: Result, indent: str) -> list[str]:
    lines = []
    for name, part in result.parts.items():
        because = "" if part.unknown_because is None else f"; unknown because {part.unknown_because}"
        told = brief(visible(part.message), LONGEST)
        lines += [f"{indent}{name}: {part.valid}: {told}{because}", *_parts(part, indent + "  ")]
    return lines
