"""Options that choose the world a command runs in: the simulator, or real processes in containers."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from tidemark.cli.options import RealRange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.systems.system import System

F = TypeVar("F", bound="Callable[..., Any]")

ONLY_IN_CONTAINERS = ("clients", "hosts", "time_scale")


def world_options(command: F) -> F:
    """--world, --clients, --time-scale, --hosts."""
    for option in reversed(
        (
            click.option(
                "--world",
                type=click.Choice(["sim", "docker"]),
                default="sim",
                show_default=True,
                help="The simulator, or real processes in containers.",
            ),
            click.option(
                "--clients",
                type=click.Choice(["confluent", "aiokafka"]),
                default="confluent",
                show_default=True,
                help="Client library of the workload in containers.",
            ),
            click.option(
                "--time-scale",
                type=RealRange(min=0.5, max=100),
                default=1.0,
                help="Multiply every time of a plan, time-outs included, for machines that are slow.  [default: 1; 3 for Kafka]",
            ),
            click.option(
                "--hosts",
                type=click.Path(path_type=Path, dir_okay=False, exists=True),
                help="Use machines that exist, named in this file, instead of containers.",
            ),
        )
    ):
        command = option(command)
    return command


def refuse_container_options(options: dict[str, Any]) -> None:
    """In the simulator, what only containers have must not be asked for.

    Raises:
        click.UsageError: it was.
    """
    context = click.get_current_context()
    for name in ONLY_IN_CONTAINERS:
        source = context.get_parameter_source(name)
        if options["world"] == "sim" and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --world docker")


@contextmanager
def containers(
    options: dict[str, Any], brokers: int, system: System | None = None, *, tidy: bool = False
) -> Iterator[ContainerSession]:
    """A session of containers as the options ask for it; leftovers of crashed runs are pointed out first, or removed.

    Args:
        options: ``hosts`` and ``clients``.
        brokers: the most that are wanted.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        tidy: what killed runs of this computer left is removed, and nobody is asked.

    Raises:
        click.ClickException: whatever the container world refused, as one sentence.
    """
    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.machines.errors import ContainerWorldError
    from tidemark.harness.machines.leftovers import clean_up, offer_cleanup

    status = Console(stderr=True)
    try:
        if options["hosts"] is None:
            (clean_up if tidy else offer_cleanup)(status)
        with ContainerSession(
            brokers,
            clients=options["clients"],
            hosts=options["hosts"],
            tell=lambda words: status.print(words, highlight=False),
            system=system,
        ) as session:
            yield session
    except ContainerWorldError as error:
        raise click.ClickException(str(error)) from None
