"""Options for how busy clients are, where plans are drawn: they take the place of what chance would choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from tidemark.cli.options import RealRange
from tidemark.nemesis import AskedWorkload, Plan, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

WORKLOAD_OPTIONS: Final = ("producers", "rate", "batch", "duration")


def workload_options(command: F) -> F:
    """--producers, --rate, --batch, --duration."""
    for option in reversed(
        (
            click.option(
                "--producers", type=click.IntRange(1, 1000), help="Number of producers.  [default: drawn, 2 to 4]"
            ),
            click.option(
                "--rate",
                type=RealRange(min=0, min_open=True, max=1_000_000),
                help="Sends a second of each producer, on average.  [default: drawn, 2.5 to 17]",
            ),
            click.option(
                "--batch",
                type=click.IntRange(1, 100_000),
                help="The most records in a send.  [default: drawn, 1 to 10]",
            ),
            click.option(
                "--duration",
                type=RealRange(min=0.1, max=86_400),
                help="Seconds until everything is healed; the plan's faults are spread over them.  [default: drawn, 2 to 6]",
            ),
        )
    ):
        command = option(command)
    return command


def asked_for(options: dict[str, Any]) -> list[str]:
    """Those that somebody gave, as they are typed."""
    context = click.get_current_context()
    return [
        f"--{name}"
        for name in WORKLOAD_OPTIONS
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and options[name] is not None
    ]


def workload_of(options: dict[str, Any]) -> AskedWorkload:
    """What the options ask for."""
    return AskedWorkload(**{name: options[name] for name in WORKLOAD_OPTIONS})


def with_workload(plan: Plan, options: dict[str, Any]) -> Plan:
    """The plan as the options want it.

    Raises:
        click.UsageError: nobody can run it.
    """
    try:
        return workload_of(options).of(plan)
    except PlanError as error:
        raise click.UsageError(str(error)) from None


def refuse_beside_a_plan(options: dict[str, Any]) -> None:
    """A plan file says by itself how busy clients are.

    Raises:
        click.UsageError: an option says it as well.
    """
    if given := asked_for(options):
        raise click.UsageError(f"{given[0]} cannot be given with --plan: the plan file says it (edit a copy of it)")
