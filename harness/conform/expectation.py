"""What a scenario must come to on a system: what its script claims, or what the system's model makes of it in the simulator."""

from __future__ import annotations

from dataclasses import replace

from tidemark.harness.conform.differing_endings import Played, SideBySide
from tidemark.harness.conform.known_differences import KNOWN_DIFFERENCES
from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.conform.players import SimulatorPlayer
from tidemark.harness.scenario.play import ScenarioOutcome
from tidemark.harness.systems.system import System


def judged(outcome: ScenarioOutcome, system: System) -> ScenarioOutcome:
    """The outcome on a system that has a model of its own: matched if nothing in it differs from what the model does, but for what
    is known and explained. On any other system it stays as it is, held against the script's claims; so does a script that moves
    logs between log directories, which no model can.

    Leader epochs are compared by the reigns they stand for (``tidemark conform`` shows both side by side).
    """
    stands_for = system.model(outcome.variant)
    if stands_for is None or outcome.scenario.moves_logs:
        return outcome
    model, name = stands_for
    pairing = Pairing(outcome.scenario, outcome.variant, model, name)
    simulated = SimulatorPlayer()
    reference = Played(simulated.name, simulated.system(pairing), [simulated.play(pairing, lambda _: None)])
    comparison = SideBySide(pairing, [reference, Played("real", name, [outcome])], KNOWN_DIFFERENCES)
    mismatches = [f"{one.aspect}: the model has {one.model}, {name} {one.seen}" for one in comparison.unexplained]
    return replace(outcome, mismatches=mismatches, matched=not mismatches)
