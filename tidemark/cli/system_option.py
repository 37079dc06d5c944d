"""``--system`` and ``--broker-config``: what runs on the machines."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, option
from tidemark.harness.systems.registry import find_system
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.variant import VariantError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.harness.systems.system import System
    from tidemark.nodes.families import AnyVariant

OWN = "tidemark"


class SystemOptions(Options):
    """--system, --broker-config."""

    system: str = option(
        "What runs in the containers: Tidemark's own nodes, real Apache Kafka brokers, NATS JetStream, or a system of your own "
        "(docs/systems.md). kafka:./kafka is a Kafka that you built, an unpacked release with its folder libs; "
        "kafka:4.3.1+./classes puts a folder of classes, or a jar, in front of a release (docs/real-kafka.md). "
        "kafka:4.3.1@3-controllers has a quorum of three KRaft controllers. "
        "Anything but tidemark implies --world docker.",
        default=OWN,
        metavar="tidemark|kafka:VERSION[@PROTOCOL][@3-controllers]|kafka:VERSION..VERSION|kafka:[VERSION+]PATH|nats:VERSION[@sync-always]|"
        "etcd:VERSION|fluss:VERSION|FILE.py",
    )
    broker_config: tuple[str, ...] = option(
        "A further setting of Kafka's brokers; may be given several times.", multiple=True, metavar="KEY=VALUE"
    )

    def found(self) -> System:
        """The system that is asked for.

        Raises:
            click.UsageError: there is none, or a setting is none.
        """
        settings = {}
        for entry in self.broker_config:
            key, equals, value = entry.partition("=")
            if not equals or not key.strip():
                raise click.UsageError(f"--broker-config wants KEY=VALUE, not {entry!r}")
            settings[key.strip()] = value.strip()
        return system_called(self.system, settings)


def system_called(text: str, settings: dict[str, str] | None = None) -> System:
    """The system of a name, or of a file.

    Raises:
        click.UsageError: there is none.
    """
    with refused(SystemRefusalError, usage=True):
        system = find_system(text, settings)
    if system.about:
        output(stderr=True).print(system.about, highlight=False, markup=False, soft_wrap=True)
    return system


def variant_on(system: System, name: str) -> AnyVariant:
    """The protocol that a variant's name means on a system.

    Raises:
        click.UsageError: the system cannot express it.
    """
    with refused(SystemRefusalError, usage=True):
        return system.variant(name)


def variants_had(system: System, names: Iterable[str]) -> dict[str, str]:
    """Those of the variants that the system can express, and what each is there."""
    found = {}
    for name in names:
        with suppress(SystemRefusalError, VariantError):
            found[name] = system.variant(name).name
    return found
