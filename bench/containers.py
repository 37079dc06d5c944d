"""Containers: from nothing to the first acknowledged write on five brokers, and throughput as in bench.throughput."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from confluent_kafka import Producer

from bench.throughput import VARIANT, measure, wait_for_isr
from harness.containers.link_faults import TRANSPORT
from harness.containers.recorder import Recorder
from harness.containers.session import ContainerSession
from harness.containers.world import RealWorld
from nemesis import Plan, WorkloadSpec
from nodes.cluster import ClusterSpec
from nodes.settings import Settings
from nodes.variant import parse_variant

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
    with _session(1) as one, _session(3) as three, _booted(one, 1) as single, _booted(three, 3) as cluster:
        for address, brokers in ((single, 1), (cluster, 3)):
            wait_for_isr(address, brokers)
        measure({1: single, 3: cluster})


def _first_write() -> float:
    """Seconds."""
    began = perf_counter()
    with _session(BROKERS) as session, _booted(session, BROKERS) as address:
        producer = Producer({"bootstrap.servers": address, "acks": "all", "linger.ms": 0, "log_level": 0})
        producer.produce("t", b"1")
        assert not producer.flush(20), "the first write got no answer"
        return perf_counter() - began


def _session(brokers: int) -> ContainerSession:
    return ContainerSession(brokers, tell=print)


@contextmanager
def _booted(session: ContainerSession, brokers: int) -> Iterator[str]:
    """Start the nodes; gives the brokers' addresses for clients once there is a leader."""
    settings = Settings(min_isr=min(2, brokers))
    cluster = ClusterSpec(brokers=brokers, replication_factor=min(3, brokers), settings=settings)
    plan = Plan(0, 0, 0, "by hand", cluster, WorkloadSpec(), (), 0)
    machines = session.open().machines
    with Recorder({}, None, lambda _entry: None) as recorder:
        world = RealWorld(machines, plan, parse_variant(VARIANT), recorder, delay=TRANSPORT)
        try:
            world.boot()
            yield ",".join(machines[broker].advertised for broker in cluster.broker_ids())
        finally:
            world.close()
