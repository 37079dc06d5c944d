"""A whole cluster of node processes on loopback, for tests."""

import pytest
from local_cluster import LocalCluster, eventually, produce_request

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings


@pytest.fixture
def local_cluster(tmp_path):
    """Makes a :class:`LocalCluster` in the test's folder: ``with local_cluster("kafka-2.7") as cluster``."""

    def make(variant="kafka-2.7", cluster=None, **more):
        return LocalCluster(tmp_path, variant, cluster, **more)

    return make


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory):
    """One cluster for the tests of a module, with short time-outs; each test leaves it whole."""
    settings = Settings(lag_time_us=400_000, session_us=500_000)
    with LocalCluster(tmp_path_factory.mktemp("cluster"), "kafka-2.7", ClusterSpec(settings=settings)) as cluster:
        yield cluster


@pytest.fixture
def produce():
    """Makes a Produce request: ``produce(values, partition, acks)``."""
    return produce_request


@pytest.fixture
def eventually_true():
    """Waits for something: ``eventually_true(lambda: …)``."""
    return eventually
