"""Finds a system by what a person typed after ``--system``.

``tidemark``, ``kafka:VERSION[@PROTOCOL]``, ``kafka:VERSION..VERSION``, ``kafka:[VERSION+]PATH``, ``nats:VERSION[@sync-always]``,
``etcd:VERSION``, ``fluss:VERSION`` are here. Another is a Python file (``--system ./my_system.py`` or ``./my_system.py:ARGUMENT``)
or an installed package's entry point of the group ``tidemark.systems``; both give a function ``system(argument: str)``, of a
RealSystem or a System (docs/systems.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tidemark.harness.runs.own_code import OwnCodeError, file_of, offered
from tidemark.harness.systems.outside.adapter import OutsideSystem
from tidemark.harness.systems.outside.real_system import RealSystem
from tidemark.harness.systems.system import System, SystemRefusalError

GROUP = "tidemark.systems"
MAKER = "system"

Maker = Callable[[str], System | RealSystem]


def find_system(text: str, broker_config: Mapping[str, str] | None = None) -> System:
    """The system of this name.

    Args:
        text: such as ``kafka:2.8.2@1.1``.
        broker_config: further settings of the brokers, which only Kafka has.

    Raises:
        SystemRefusalError: there is none, or it cannot be loaded.
    """
    name, _, argument = text.partition(":")
    if name == "kafka":
        from tidemark.harness.systems.kafka.system import KafkaSystem

        return KafkaSystem.parse(text, broker_config or {})
    if name == "nats":
        from tidemark.harness.systems.nats.system import NatsSystem

        return OutsideSystem(NatsSystem.parse(text))
    if name == "etcd":
        from tidemark.harness.systems.etcd.system import EtcdSystem

        return OutsideSystem(EtcdSystem.parse(text))
    if name == "fluss":
        from tidemark.harness.systems.fluss.system import FlussSystem

        return OutsideSystem(FlussSystem.parse(text))
    if broker_config:
        raise SystemRefusalError(
            "--broker-config is for --system kafka:VERSION: Tidemark's own nodes have no such settings"
        )
    if text == "tidemark":
        from tidemark.harness.systems.tidemark import TidemarkSystem

        return TidemarkSystem()
    made = _maker(text, name)(argument)
    if isinstance(made, RealSystem):
        return OutsideSystem(made, text)
    if not isinstance(made, System):
        raise SystemRefusalError(
            f"{MAKER}() of {name} gives a {type(made).__name__}, and should give a RealSystem or a System (docs/systems.md)"
        )
    return made


def _maker(text: str, name: str) -> Maker:
    try:
        if name.endswith(".py"):
            return _function(getattr(file_of(Path(name), "a system"), MAKER, None), name)
        found = offered(GROUP, name)
    except OwnCodeError as error:
        raise SystemRefusalError(str(error)) from error
    if found is None:
        raise SystemRefusalError(
            f"there is no system {text!r}: use tidemark, kafka:VERSION such as kafka:2.8.2, kafka:VERSION@PROTOCOL such as "
            "kafka:2.8.2@1.1, a Kafka that you built such as kafka:./kafka, nats:VERSION such as nats:2.15.1, "
            "nats:VERSION@sync-always, etcd:VERSION such as etcd:3.5.1, fluss:VERSION such as fluss:0.9.1, "
            "or a file such as ./my_system.py"
        )
    where, thing = found
    return _function(thing, where)


def _function(found: object, where: str) -> Maker:
    if not callable(found):
        raise SystemRefusalError(f"{where} has no function {MAKER}(argument) that gives a System (docs/systems.md)")
    maker: Maker = found
    return maker
