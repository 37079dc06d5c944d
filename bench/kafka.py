"""Our nodes beside real Apache Kafka: records/s and latencies of three nodes each, and how long Kafka takes to start.

Equal for both: three nodes in containers here, one partition on all three, min ISR 2; the producer (librdkafka, acks=all,
idempotent, 100-byte records); time-outs and intervals; logs in memory (tmpfs), never synced before an acknowledgement; no proxies,
no faults. Both clusters are up at the same time and share the cores with the producer; they are measured in turn.

Not equal: Kafka runs as somebody would run it (a heap of 1 GB, G1, both compilers, its own numbers of threads, no log lines but its
default ones), and its first round does not count, so that its code is compiled. A sidecar runs beside each broker, and has
nothing to do. Our nodes run as they do in any run: they write their trace, every batch included, to the container's disk.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

from bench.booted import booted
from bench.throughput import RECORDS, VARIANT, first_write, measure, wait_for_isr
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.kafka.jvm_settings import MEASURED
from tidemark.harness.systems.kafka.kafka_versions import parse_system
from tidemark.harness.systems.kafka.system import KafkaSystem

BROKERS = 3
STARTS = 3
VERSION = "3.9.1"
STARTED = ("2.8.2", "3.9.1", "4.1.1")
KAFKAS_OWN = 10
"""The default settings have Kafka's own times compressed about tenfold, too short for machines that are busy."""
DEFAULTS = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "background.threads": "10",
    "replica.fetch.max.bytes": "1048576",
    "replica.fetch.wait.max.ms": "500",
}
"""Kafka's own, where runs have others."""


def main(version: str = VERSION) -> None:
    """Print rates and latencies of ours and of a Kafka, then how long three versions take to start."""
    _measure(version)
    for started in STARTED:
        _start(started)


def _measure(version: str) -> None:
    kafka = KafkaSystem(parse_system(f"kafka:{version}"), DEFAULTS, proxied=False, jvm=MEASURED)
    with (
        ContainerSession(BROKERS, tell=print) as our_machines,
        ContainerSession(BROKERS, tell=print, system=kafka) as kafkas_machines,
        booted(our_machines, BROKERS, slower=KAFKAS_OWN) as ours,
        booted(kafkas_machines, BROKERS, variant=kafka.default_variant, slower=KAFKAS_OWN) as theirs,
    ):
        for address in (ours, theirs):
            wait_for_isr(address, BROKERS)
        measure({f"ours, {VARIANT}": ours, f"Kafka {version}": theirs}, f"{BROKERS} nodes each", warm_up=RECORDS)


def _start(version: str) -> None:
    system = KafkaSystem.parse(f"kafka:{version}", {})
    with ContainerSession(1, tell=print, system=system):
        pass  # the image is built, if it was not
    starts = sorted(_first_write(system) for _ in range(STARTS))
    print(
        f"Kafka {version}, {BROKERS} brokers as in a run, from a cached image to the first write with acks=all: "
        f"median {median(starts):.1f} s, slowest {starts[-1]:.1f} s of {STARTS}   (bar: 20 s)"
    )


def _first_write(system: KafkaSystem) -> float:
    """Seconds."""
    began = perf_counter()
    with (
        ContainerSession(BROKERS, tell=print, system=system) as session,
        booted(session, BROKERS, variant=system.default_variant, slower=system.time_scale) as address,
    ):
        first_write(address)
        return perf_counter() - began
