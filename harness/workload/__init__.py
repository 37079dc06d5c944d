"""Clients of the simulated world: producers of unique values, consumers that poll up to the high watermark."""

from harness.workload.consumer import Consumer, FinalReader
from harness.workload.producer import Producer

__all__ = ["Consumer", "FinalReader", "Producer"]
