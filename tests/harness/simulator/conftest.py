"""Plans by hand, and a simulation that is only booted."""

import pytest

from tidemark.harness.simulator.simulation import Simulation
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant

SECOND = 1_000_000


@pytest.fixture(scope="session")
def plan():
    """``plan(Fault(…), …, end=4 s)``: three brokers, one producer of single records every 100 ms or so."""

    def make(*faults, end=4 * SECOND, noise_seed=1, work=None, cluster=None, **settings):
        work = work or WorkloadSpec(producers=1, consumers=1, interval_us=100_000, batch=1)
        cluster = cluster or ClusterSpec(settings=Settings(**settings))
        return Plan(0, 0, noise_seed, "by hand", cluster, work, faults, end)

    return make


@pytest.fixture
def simulation():
    """``simulation(…, until=1 s)``: booted, with nobody who writes, run up to a time."""

    made = []

    def make(variant="kafka-2.7", *, until=SECOND, noise_seed=1, brokers=3, **settings):
        cluster = ClusterSpec(brokers=brokers, settings=Settings(**settings))
        made.append(Simulation(cluster, parse_variant(variant), noise_seed))
        made[-1].boot()
        made[-1].run_until(until)
        return made[-1]

    yield make
    for one in made:
        one.dispose()
