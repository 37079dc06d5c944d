"""``--system`` and ``--broker-config``: what runs on the machines."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tidemark.cli.extras import need

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.systems.system import System
    from tidemark.nodes.families import AnyVariant

F = TypeVar("F", bound="Callable[..., Any]")

OWN = "tidemark"


def system_options(command: F) -> F:
    """--system, --broker-config."""
    for option in reversed(
        (
            click.option(
                "--system",
                "system",
                default=OWN,
                show_default=True,
                metavar="tidemark|kafka:VERSION[@PROTOCOL]|FILE.py",
                help="What runs in the containers: Tidemark's own nodes, real Apache Kafka brokers, or a system of your own "
                "(docs/systems.md). Anything but tidemark implies --world docker.",
            ),
            click.option(
                "--broker-config",
                multiple=True,
                metavar="KEY=VALUE",
                help="A further setting of Kafka's brokers; may be given several times.",
            ),
        )
    ):
        command = option(command)
    return command


def system_of(options: dict[str, Any]) -> System:
    """The system that the options ask for; ``world`` becomes ``docker`` where that follows.

    Raises:
        click.UsageError: there is no such system, or it cannot be combined with the other options.
    """
    from tidemark.harness.systems.registry import find_system
    from tidemark.harness.systems.system import SystemRefusalError

    text = options["system"]
    if text != OWN and "world" in options:
        given = click.get_current_context().get_parameter_source("world")
        if options["world"] == "sim" and given is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--system {text} needs real machines; leave --world sim away")
        options["world"] = "docker"
    need(containers=text != OWN or options.get("world") == "docker")
    settings = {}
    for entry in options["broker_config"]:
        key, equals, value = entry.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"--broker-config wants KEY=VALUE, not {entry!r}")
        settings[key.strip()] = value.strip()
    try:
        return find_system(text, settings)
    except SystemRefusalError as error:
        raise click.UsageError(str(error)) from None


def time_scale_of(options: dict[str, Any], system: System) -> float:
    """What was asked for, or what the system needs."""
    source = click.get_current_context().get_parameter_source("time_scale")
    asked: float = options["time_scale"]
    return asked if source is click.core.ParameterSource.COMMANDLINE else max(asked, system.time_scale)


def suffix_of(options: dict[str, Any]) -> str:
    """What tells a results folder of this world and system from others."""
    if options["world"] == "sim":
        return ""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", options["system"]).strip("-.")
    return f"-{options['world']}" if options["system"] == OWN else f"-{plain}"


def chosen_variants(system: System, names: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The variants that were asked for; of those that nobody typed, the ones that the system can express.

    Args:
        system: what runs.
        names: the option's value.
        option: its name, such as ``variants``.

    Raises:
        click.UsageError: the system cannot express one that was typed.
    """
    from tidemark.harness.systems.system import SystemRefusalError

    context = click.get_current_context()
    if context.params.get("world") == "sim" and context.params.get("system") == OWN:
        return names
    if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
        for name in names:
            variant_on(system, name)
        return names
    found = []
    for name in names:
        with suppress(SystemRefusalError):
            found.append(system.variant(name).name)
    return tuple(found) or (system.default_variant,)


def variant_on(system: System, name: str) -> AnyVariant:
    """The protocol that a variant's name means on a system.

    Raises:
        click.UsageError: the system cannot express it.
    """
    from tidemark.harness.systems.system import SystemRefusalError

    try:
        return system.variant(name)
    except SystemRefusalError as error:
        raise click.UsageError(str(error)) from None
