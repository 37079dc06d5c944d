"""Where a command runs, and what: the simulator, or real processes in containers, of our own nodes or another system."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from rich.console import Console

from tidemark.cli.extras import need
from tidemark.cli.options import RealRange
from tidemark.cli.refused import refused
from tidemark.cli.system_option import OWN, SystemOptions, variant_on, variants_had
from tidemark.cli.typed_options import Options, group, option, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.systems.system import System

ONLY_IN_CONTAINERS = ("clients", "hosts", "time_scale")

world_option = click.option(
    "--world",
    type=click.Choice(["sim", "docker"]),
    default="sim",
    show_default=True,
    help="The simulator, or real processes in containers.",
)
hosts_option = click.option(
    "--hosts",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Use machines that exist, named in this file, instead of containers.",
)


class AsksForWorld(Protocol):
    """Options with a world and a system among them."""

    @property
    def world(self) -> str:
        """``sim`` or ``docker``."""

    @property
    def system(self) -> SystemOptions:
        """What runs there."""

    @property
    def typed(self) -> dict[str, str]:
        """What somebody typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldOptions(Options):
    """--world, --clients, --time-scale, --hosts, and those of the system."""

    world: str = shared(world_option)
    clients: str = option(
        "--clients",
        type=click.Choice(["confluent", "aiokafka"]),
        default="confluent",
        show_default=True,
        help="Client library of the workload in containers.",
    )
    time_scale: float = option(
        "--time-scale",
        type=RealRange(min=0.5, max=100),
        default=1.0,
        help="Multiply every time of a plan, time-outs included, for machines that are slow.  [default: 1; 3 for Kafka]",
    )
    hosts: Path | None = shared(hosts_option)
    system: SystemOptions = group(SystemOptions)

    def time_scale_on(self, system: System) -> float:
        """What was asked for, or what the system needs."""
        return self.time_scale if "time_scale" in self.typed else max(self.time_scale, system.time_scale)


def name_of_world(asked: AsksForWorld) -> str:
    """Which it is: any system but our own needs machines."""
    return asked.world if asked.system.system == OWN else "docker"


@dataclass(frozen=True, slots=True)
class World:
    """Where a command runs, and what.

    Attributes:
        name: ``sim`` or ``docker``. system: what runs. text: as it was asked for.
    """

    name: str
    system: System
    text: str = OWN

    @property
    def is_simulated(self) -> bool:
        """Whether no machine is needed."""
        return self.name == "sim"

    @property
    def suffix(self) -> str:
        """What tells a results folder of this world and system from others."""
        if self.is_simulated:
            return ""
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", self.text).strip("-.")
        return f"-{self.name}" if self.text == OWN else f"-{plain}"

    def variants(self, names: tuple[str, ...], *, typed: bool) -> tuple[str, ...]:
        """The variants that were asked for; of those that nobody typed, the ones that the system can express.

        Raises:
            click.UsageError: the system cannot express one that was typed.
        """
        if self.is_simulated:
            return names
        if typed:
            for name in names:
                variant_on(self.system, name)
            return names
        return tuple(variants_had(self.system, names).values()) or (self.system.default_variant,)


def world_of(asked: AsksForWorld) -> World:
    """The world that the options ask for; in the simulator, what only containers have must not be asked for.

    Raises:
        click.UsageError: there is no such system, or it cannot be combined with the other options.
    """
    name, text = name_of_world(asked), asked.system.system
    if name != asked.world and "world" in asked.typed:
        raise click.UsageError(f"--system {text} needs real machines; leave --world sim away")
    need(containers=name == "docker")
    world = World(name, asked.system.found(), text)
    for option_of_containers in ONLY_IN_CONTAINERS:
        if world.is_simulated and option_of_containers in asked.typed:
            raise click.UsageError(f"{asked.typed[option_of_containers]} needs --world docker")
    return world


@contextmanager
def containers(
    brokers: int,
    system: System | None = None,
    *,
    hosts: Path | None = None,
    clients: str = "confluent",
    tidy: bool = False,
) -> Iterator[ContainerSession]:
    """A session of containers; leftovers of crashed runs are pointed out first, or removed.

    Args:
        brokers: the most that are wanted.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        hosts: a file that names machines, to be used instead.
        clients: the workload's library.
        tidy: what killed runs of this computer left is removed, and nobody is asked.

    Raises:
        click.ClickException: whatever the container world refused, as one sentence.
    """
    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.machines.errors import ContainerWorldError
    from tidemark.harness.machines.leftovers import clean_up, offer_cleanup

    status = Console(stderr=True)
    with refused(ContainerWorldError):
        if hosts is None:
            (clean_up if tidy else offer_cleanup)(status)
        with ContainerSession(
            brokers,
            clients=clients,
            hosts=hosts,
            tell=lambda words: status.print(words, highlight=False),
            system=system,
        ) as session:
            yield session
