"""The deterministic simulator: one heap of events, integer time, named noise streams, a digest of every run.

A run is code version + plan + variant; the plan names its noise seed. The same run gives the same bytes in any process.
"""

from tidemark.harness.simulator.simulate import SimulatedRun, simulate

__all__ = ["SimulatedRun", "simulate"]
