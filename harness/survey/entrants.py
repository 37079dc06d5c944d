"""The systems of a survey: what somebody types, how it is run, and what is known of it that the page must say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tidemark.harness.systems.outside.adapter import LOG, OutsideSystem
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.nemesis.object_workload import SET

if TYPE_CHECKING:
    from tidemark.nodes.families import AnyVariant

OWN = "tidemark"
FLUSH: Final = "log.flush.interval.messages=1"
USUAL: Final = (
    "kafka:4.3.1",
    f"kafka:4.3.1+{FLUSH}",
    "nats:2.15.1",
    "nats:2.15.1@sync-always",
    "etcd:3.7.3",
    "fluss:0.9.1",
    "tidemark:kafka-4.0",
    "tidemark:raft",
)
"""What is surveyed unless somebody asks for others."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A system of a survey.

    Attributes:
        name: as it was typed.
        system: what runs. variant: the protocol that it runs under.
        kind: the object that its clients work on, if it is no log.
        settings: what was set beside what comes; Kafka's only.
    """

    name: str
    system: System
    variant: str
    kind: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def protocol(self) -> AnyVariant:
        """The protocol, as its system has it."""
        return self.system.variant(self.variant)


def entrant(text: str, find: Callable[[str, Mapping[str, str]], System]) -> Entrant:
    """The system of a word such as ``nats:2.15.1``, ``kafka:4.3.1+KEY=VALUE`` or ``tidemark:raft``.

    Args:
        text: the word; behind a ``+`` stands a setting of Kafka's brokers, behind ``tidemark:`` a variant.
        find: finds the system of a name and settings.

    Raises:
        SystemRefusalError: there is none, or it has no clients that could lose a record.
    """
    if text == OWN or text.startswith(f"{OWN}:"):
        system = find(OWN, {})
        variant = text.partition(":")[2] or system.default_variant
        system.variant(variant)
        return Entrant(text, system, variant)
    name, *words = text.split("+")
    settings = dict(_setting(word, text) for word in words)
    if settings and not name.startswith("kafka:"):
        raise SystemRefusalError(
            f"{text!r} has a setting, and only Kafka's brokers take any: leave + and all behind it away"
        )
    system = find(name, settings)
    return Entrant(text, system, system.default_variant, _kind(system), settings)


def _setting(word: str, text: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise SystemRefusalError(f"behind a + in {text!r} stands a setting, KEY=VALUE, and not {word!r}")
    return key, value


def _kind(system: System) -> str:
    """A log if it has one, else a set, whose elements are what can be lost."""
    if not isinstance(system, OutsideSystem) or LOG in system.real.workloads:
        return ""
    if SET not in system.real.workloads:
        raise SystemRefusalError(f"{system.name} has neither a log nor a set, so nothing tells which records it lost")
    return SET


def folder_name(name: str) -> str:
    """What its runs lie in.

    >>> folder_name("kafka:4.3.1+log.flush.interval.messages=1")
    'kafka-4.3.1+log.flush.interval.messages-1'
    """
    return re.sub(r"[^A-Za-z0-9.@+]+", "-", name)
