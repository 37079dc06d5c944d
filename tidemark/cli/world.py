"""Where a command runs, and what: the simulator, or real processes in containers, of our own nodes or another system."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.extras import need
from tidemark.cli.options import POSITIVE, RealRange
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.system_option import OWN, SystemOptions, variant_on, variants_had
from tidemark.cli.typed_options import Options, group, option, shared
from tidemark.harness.machines.errors import ContainerWorldError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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


clusters_option = click.option(
    "--jobs",
    type=POSITIVE,
    help="Clusters of containers side by side.  [default: as many as cores and free memory bear]",
)


class WorldOptions(Options):
    """--world, --clients, --time-scale, --hosts, and those of the system."""

    world: str = shared(world_option)
    clients: str = option(
        "Client library of the workload in containers; java: Kafka's own, for --workload transactions.",
        type=click.Choice(["confluent", "aiokafka", "java"]),
        default="confluent",
    )
    time_scale: float = option(
        "Multiply every time of a plan, time-outs included, for machines that are slow.  [default: 1; 3 for Kafka]",
        type=RealRange(min=0.5, max=100),
        default=1.0,
    )
    hosts: Path | None = shared(hosts_option)
    system: SystemOptions = group(SystemOptions)

    def chosen(self) -> World:
        """The world that is asked for, as :func:`world_of` finds it."""
        return world_of(self.world, self.system, self.typed)

    def time_scale_on(self, system: System) -> float:
        """What was asked for, or what the system needs."""
        return self.time_scale if "time_scale" in self.typed else max(self.time_scale, system.time_scale)


def name_of_world(world: str, system: SystemOptions) -> str:
    """Which it is: any system but our own needs machines."""
    return world if system.system == OWN else "docker"


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


def world_of(asked: str, system: SystemOptions, typed: Mapping[str, str]) -> World:
    """The world that somebody asks for; in the simulator, what only containers have must not be `typed`.

    Raises:
        click.UsageError: there is no such system, or it cannot be combined with the other options.
    """
    name = name_of_world(asked, system)
    if name != asked and "world" in typed:
        raise click.UsageError(f"--system {system.system} needs real machines; leave --world sim away")
    need(containers=name == "docker")
    world = World(name, system.found(), system.system)
    for of_containers in ONLY_IN_CONTAINERS:
        if world.is_simulated and of_containers in typed:
            raise click.UsageError(f"{typed[of_containers]} needs --world docker")
    return world


@contextmanager
def containers(
    brokers: int,
    system: System | None = None,
    *,
    hosts: Path | None = None,
    clients: str = "confluent",
    tidy: bool = False,
    go_on: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Iterator[ContainerSession]:
    """A session of containers; leftovers of crashed runs are pointed out first, or removed.

    Args:
        brokers: the most that are wanted.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        hosts: a file that names machines, to be used instead.
        clients: the workload's library.
        tidy: what killed runs of this computer left is removed, and nobody is asked.
        go_on: nodes go on from one run into the next, where they can.
        tell: is told what takes long, by one of several that work side by side; who starts them has looked for leftovers.

    Raises:
        click.ClickException: whatever the container world refused, as one sentence.
    """
    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.machines.leftovers import clean_up, offer_cleanup

    status = output(stderr=True)
    with refused(ContainerWorldError):
        if hosts is None and tell is None:
            (clean_up if tidy else offer_cleanup)(status)
        with ContainerSession(
            brokers,
            clients=clients,
            hosts=hosts,
            tell=tell or (lambda words: status.print(words, highlight=False)),
            system=system,
            go_on=go_on,
        ) as session:
            yield session


def clusters(asked: int | None, system: System, brokers: int, *, most: int) -> int:
    """How many clusters side by side: as many as were asked for, or as this computer bears; `most`, if there is no more work."""
    from tidemark.harness.live.most_jobs import jobs_that_fit

    return max(1, min(asked or jobs_that_fit(brokers + 1, system.needs), most))
