"""Clients of the simulated world: producers of unique values, consumers that poll up to the high watermark, an administrator."""

from tidemark.harness.simulator.workload.admin import AdminClient
from tidemark.harness.simulator.workload.consumer import Consumer, FinalReader
from tidemark.harness.simulator.workload.producer import Producer
from tidemark.harness.simulator.workload.repeats import KnowsRepeats

__all__ = ["AdminClient", "Consumer", "FinalReader", "KnowsRepeats", "Producer"]
