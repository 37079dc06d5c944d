"""What a scenario must come to on a Kafka binary: what the model of that binary makes of it in the simulator."""

from __future__ import annotations

from dataclasses import replace

from harness.conform.differences import Comparison, Played
from harness.conform.findings import FINDINGS
from harness.conform.pairing import Pairing
from harness.conform.worlds import SimulatedWorld
from harness.scenario.run import ScenarioOutcome
from harness.systems.kafka.protocol_versions import KafkaVersion, model_variant, protocol_for


def judged(outcome: ScenarioOutcome, kafka: KafkaVersion) -> ScenarioOutcome:
    """The outcome on real brokers, matched if nothing in it differs from the model's, but for what is known and explained.

    Leader epochs are compared by the reigns they stand for (``tidemark conform`` shows both side by side).
    """
    protocol = protocol_for(kafka, outcome.variant)
    model = model_variant(kafka.version, protocol)
    system = str(KafkaVersion(kafka.version, protocol))
    pairing = Pairing(outcome.scenario, outcome.variant, model.name, system)
    simulated = SimulatedWorld()
    reference = Played(simulated.name, simulated.system(pairing), [simulated.play(pairing, lambda _: None)])
    comparison = Comparison(pairing, [reference, Played("kafka", system, [outcome])], FINDINGS)
    mismatches = [f"{one.aspect}: the model has {one.model}, {system} {one.seen}" for one in comparison.unexplained]
    return replace(outcome, mismatches=mismatches, matched=not mismatches)
