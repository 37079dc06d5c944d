"""Machines of a run that was never started, and a control of a broker whose machine is this computer."""

from pathlib import Path

import pytest
from local_machine import LocalMachine

from tidemark.harness.machines.machine import Machine
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.ssh import Shell
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.harness.systems.kafka.scripts import KafkaScripts
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant


@pytest.fixture
def deployment():
    """A run of three brokers under a preset; their machines have addresses and nothing else."""

    def deployment(preset="kafka-2.7", **settings):
        machines = {
            node: Machine(
                node,
                f"b{node}" if node else "controller",
                Shell("127.0.0.1", 22),
                f"10.77.4.1{node}",
                "127.0.0.1",
                node and 40_000 + node,
            )
            for node in range(4)
        }
        cluster = ClusterSpec(partitions=2, replication_factor=2, settings=Settings(**settings))
        return Deployment(machines, cluster, parse_variant(preset))

    return deployment


class LocalKafkaControl(NodeControl):
    """A broker's, with its files below a folder."""

    scripts = KafkaScripts


@pytest.fixture
def control(tmp_path):
    made = LocalKafkaControl(LocalMachine(1, [1, 2, 3]), KafkaPlaces(str(tmp_path)))
    for path in (made.places.data, Path(made.places.pid).parent, Path(made.places.trace).parent):
        Path(path).mkdir(parents=True, exist_ok=True)
    return made
