"""``--rule``: truncation rules of one's own, from a file or from an installed package."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from tidemark.harness.runs.own_code import OwnCodeError
from tidemark.harness.runs.own_rules import GROUP, forget, known, learn, rules_of, used_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

F = TypeVar("F", bound="Callable[..., Any]")


def rule_option(command: F) -> F:
    """--rule, which is read before the variants that name a rule are."""

    @wraps(command)
    def with_rules(*values: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever click hands to the command
        if known():
            _refuse_idle(click.get_current_context().params)
        try:
            return command(*values, **named)
        except OwnCodeError as error:
            raise click.ClickException(str(error)) from error

    option = click.option(
        "--rule",
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=_learn,
        metavar="FILE.py[:NAME]|NAME",
        help="Know this truncation rule, too: a class of a file, or one that a package offers as an entry point "
        f"{GROUP}. A variant has it as +truncation=NAME (docs/api.md). May be given more than once.",
    )
    return option(cast("F", with_rules))


def _learn(context: click.Context, option: click.Parameter, asked: tuple[str, ...]) -> None:
    forget()
    try:
        for one in asked:
            learn(rules_of(one))
    except OwnCodeError as error:
        raise click.UsageError(str(error), context) from None


def _refuse_idle(asked: Mapping[str, Any]) -> None:
    """A rule that no variant names would do nothing, in silence."""
    if asked.get("corpus") and click.get_current_context().command.name == "run":  # kept plans name their variants
        return
    typed = [asked.get(name) or () for name in ("variants", "variant", "names")]
    used = used_by([one for names in typed for one in ([names] if isinstance(names, str) else names)], known())
    for rule in known():
        if rule not in used:
            raise click.UsageError(
                f"no variant has the rule {rule.name}: ask for one such as kafka-2.7+truncation={rule.name}"
            )
