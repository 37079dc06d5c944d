"""The model in the simulator against the model on real processes."""

import secrets

import pytest

from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.conform.play_pairing import conform
from tidemark.harness.conform.players import MachinePlayer, SimulatorPlayer
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.scenario import find
from tidemark.harness.scenario.live.target_factory import LiveTargets

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(scope="module")
def worlds(engine, image):
    with ContainerCluster.up(2, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        targets = LiveTargets(cluster.machines)
        yield [SimulatorPlayer(), MachinePlayer("docker", lambda: targets.target, lambda: None)]


@pytest.mark.parametrize(
    ("name", "preset", "model"),
    [
        pytest.param(
            "kip-279-scenario-1-n-20",
            "kafka-0.11",
            "kafka-2.0+truncation=kip101+bounce-detection",
            marks=pytest.mark.systems,
        ),
        ("kip-101-shortest-divergence", "kafka-2.7", "kafka-2.7"),
    ],
)
def test_they_end_alike(worlds, name, preset, model):
    comparison = conform(Pairing(find(name), preset, model), worlds, times=1, findings=(), tell=lambda words: None)

    assert [(one.aspect, one.model, one.seen) for one in comparison.differences] == []
    assert comparison.standing == "equal"
