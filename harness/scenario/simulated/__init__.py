"""A target in virtual time, on the simulator."""

from tidemark.harness.scenario.simulated.target import SimulatedTarget

__all__ = ["SimulatedTarget"]
