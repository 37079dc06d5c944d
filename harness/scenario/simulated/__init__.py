"""A stage in virtual time, on the simulator."""

from harness.scenario.simulated.stage import SimulatedStage

__all__ = ["SimulatedStage"]
