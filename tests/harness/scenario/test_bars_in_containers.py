"""The three bugs that everything must find, on real processes in containers: with the rule that has the bug, and the next one.

And what no version of Kafka asks, and brokers of two versions, in the scripts that show what these are about.
"""

import secrets

import pytest

from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.scenario import find, run_scenario
from tidemark.harness.scenario.live.target_factory import LiveTargets

pytestmark = [pytest.mark.docker, pytest.mark.slow]
SYSTEMS = pytest.mark.systems


@pytest.fixture(scope="module")
def targets(engine, image):
    with ContainerCluster.up(2, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        yield LiveTargets(cluster.machines)


@pytest.mark.parametrize(
    ("name", "variant", "verdict"),
    [
        pytest.param("kip-101-data-loss", "kafka-0.10", "invalid", marks=SYSTEMS),
        pytest.param("kip-101-data-loss", "kafka-0.11", "valid", marks=SYSTEMS),
        pytest.param("kip-101-divergence", "kafka-0.10", "invalid", marks=SYSTEMS),
        pytest.param("kip-101-divergence", "kafka-0.11", "valid", marks=SYSTEMS),
        pytest.param("kip-279-scenario-1-n-20", "kafka-0.11", "invalid", marks=SYSTEMS),
        pytest.param("kip-279-scenario-1-n-20", "kafka-2.0", "valid", marks=SYSTEMS),
        pytest.param("kip-279-scenario-1-n-20", "kafka-2.0+truncation@1=kip101", "invalid", marks=SYSTEMS),
        pytest.param("kip-279-two-rounds", "kafka-2.1+truncation=lineage", "valid", marks=SYSTEMS),
    ],
)
def test_it_comes_out_as_its_script_says(targets, name, variant, verdict):
    outcome = run_scenario(find(name), variant, targets.target)

    assert outcome.mismatches == []
    assert outcome.verdict.valid == verdict
