"""Containers to try things on."""

import secrets

import pytest

from tidemark.harness.machines.cluster import ContainerCluster


@pytest.fixture(scope="module")
def cluster(engine, image):
    """A controller and two brokers, for a module whose tests leave them as they were."""
    with ContainerCluster.up(2, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        yield cluster
