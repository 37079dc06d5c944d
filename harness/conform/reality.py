"""A system with a model of its own: what it is under a preset, and targets that are told what it really does there."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.play import SetUp
from tidemark.harness.scenario.target import ScriptTarget
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.nodes.families import AnyVariant


def stands_for(system: System) -> Callable[[str], tuple[str, str] | None]:
    """What a preset is on a system (:meth:`~tidemark.harness.systems.system.System.model`); `None` if it cannot be that."""

    def stand_in(preset: str) -> tuple[str, str] | None:
        try:
            return system.model(preset)
        except SystemRefusalError:
            return None

    return stand_in


def played_as(system: System, set_up: SetUp) -> SetUp:
    """The same targets, for variants as a system understands them: under the preset's name, what its binary really does."""

    def target(scenario: Scenario, variant: AnyVariant) -> ScriptTarget:
        return set_up(scenario, system.variant(variant.name))

    return target
