"""Finds a system by what a person typed after ``--system``.

``tidemark`` and ``kafka:VERSION[@PROTOCOL]`` are here. Another one is a Python file (``--system ./my_system.py`` or
``./my_system.py:ARGUMENT``) or an installed package's entry point of the group ``tidemark.systems``; both give a function
``system(argument: str) -> System`` (docs/systems.md).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from tidemark.harness.systems.system import System, SystemRefusalError

GROUP = "tidemark.systems"
MAKER = "system"

Maker = Callable[[str], System]


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
    if broker_config:
        raise SystemRefusalError(
            "--broker-config is for --system kafka:VERSION: Tidemark's own nodes have no such settings"
        )
    if text == "tidemark":
        from tidemark.harness.systems.tidemark import TidemarkSystem

        return TidemarkSystem()
    made = _maker(text, name)(argument)
    if not isinstance(made, System):
        raise SystemRefusalError(
            f"{MAKER}() of {name} gives a {type(made).__name__}, and should give a System (docs/systems.md)"
        )
    return made


def _maker(text: str, name: str) -> Maker:
    if name.endswith(".py"):
        return _from_file(Path(name))
    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                found = point.load()
            except Exception as error:
                raise SystemRefusalError(_cannot_load(point.value, error)) from error
            return _function(found, point.value)
    raise SystemRefusalError(
        f"there is no system {text!r}: use tidemark, kafka:VERSION such as kafka:2.8.2, kafka:VERSION@PROTOCOL such as "
        "kafka:2.8.2@1.1, or a file such as ./my_system.py"
    )


def _from_file(path: Path) -> Maker:
    module_name = f"tidemark_system_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SystemRefusalError(f"there is no file {path} to load a system from")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SystemRefusalError(_cannot_load(str(path), error)) from error
    return _function(getattr(module, MAKER, None), str(path))


def _function(found: object, where: str) -> Maker:
    if not callable(found):
        raise SystemRefusalError(f"{where} has no function {MAKER}(argument) that gives a System (docs/systems.md)")
    maker: Maker = found
    return maker


def _cannot_load(where: str, error: Exception) -> str:
    return f"{where} cannot be loaded: {error.__class__.__name__}: {error}"
