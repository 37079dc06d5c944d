"""Containers: from nothing to the first acknowledged write on five brokers, and throughput as in bench.throughput."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from bench.booted import booted
from bench.throughput import SINGLE, THREE, VARIANT, first_write, measure, wait_for_isr
from tidemark.harness.live.session import ContainerSession

STARTS = 5
BROKERS = 5


def main() -> None:
    """Print how long five brokers take, then rates and latencies."""
    with _session(1):
        pass  # the image is built, if it was not
    starts = sorted(_first_write() for _ in range(STARTS))
    print(
        f"{BROKERS} brokers, from nothing to the first write with acks=all: "
        f"median {median(starts):.1f} s, slowest {starts[-1]:.1f} s of {STARTS}"
    )
    with _session(1) as one, _session(3) as three, booted(one, 1) as single, booted(three, 3) as cluster:
        for address, brokers in ((single, 1), (cluster, 3)):
            wait_for_isr(address, brokers)
        measure({THREE: cluster, SINGLE: single}, VARIANT)


def _first_write() -> float:
    """Seconds."""
    began = perf_counter()
    with _session(BROKERS) as session, booted(session, BROKERS) as address:
        first_write(address)
        return perf_counter() - began


def _session(brokers: int) -> ContainerSession:
    return ContainerSession(brokers, tell=print)
