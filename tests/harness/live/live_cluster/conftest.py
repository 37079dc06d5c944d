"""A live cluster that has booted, and a system that writes down what it is asked before its cluster boots."""

import pytest
from played_nodes import PlayedNode, PlayedSystem, played_cluster, quiet_cluster

from tidemark.harness.live import cluster_nodes


@pytest.fixture
def cluster():
    with quiet_cluster() as made:
        yield made


@pytest.fixture
def system(monkeypatch):
    """Of a cluster that boots when it is asked to."""
    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    system = PlayedSystem()
    system.cluster = played_cluster(system)
    system.nodes = system.cluster.nodes
    yield system
    system.cluster.close()
