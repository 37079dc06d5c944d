"""Real Apache Kafka as a world: which protocol version a preset is there, and which variant of the core is its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.systems.kafka.protocol_versions import KafkaVersion, model_variant, protocol_for
from harness.systems.system import SystemRefusalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.scenario.model import Scenario
    from harness.scenario.run import SetUp
    from harness.scenario.stage import Stage
    from harness.systems.system import System
    from nodes.core.variant import Variant


def stands_for(kafka: KafkaVersion) -> Callable[[str], tuple[str, str] | None]:
    """What a preset is on this binary: its model, and the binary held to a protocol; `None` if it cannot be that."""

    def stand_in(preset: str) -> tuple[str, str] | None:
        try:
            protocol = protocol_for(kafka, preset)
        except SystemRefusalError:
            return None
        return model_variant(kafka.version, protocol).name, str(KafkaVersion(kafka.version, protocol))

    return stand_in


def staged_as(system: System, set_up: SetUp) -> SetUp:
    """The same stages, for variants as a system understands them: under the preset's name, what its binary really does."""

    def stage(scenario: Scenario, variant: Variant) -> Stage:
        return set_up(scenario, system.variant(variant.name))

    return stage
