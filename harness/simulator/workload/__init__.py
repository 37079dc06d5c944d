"""Clients of the simulated world: producers of unique values, consumers that poll up to the high watermark."""

from harness.simulator.workload.consumer import Consumer, FinalReader
from harness.simulator.workload.producer import Producer

__all__ = ["Consumer", "FinalReader", "Producer"]
