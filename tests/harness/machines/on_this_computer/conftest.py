"""A node process on a machine that is this computer."""

from contextlib import ExitStack

import pytest
from local_machine import local_machines

from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.node_places import Places


@pytest.fixture
def machine():
    """The controller's."""
    with ExitStack() as kept:
        yield local_machines([0], kept)[0]


@pytest.fixture
def control(machine, tmp_path):
    """Its node process."""
    control = NodeControl(machine, Places(str(tmp_path)))
    yield control
    control.kill()


@pytest.fixture
def config(control):
    """A controller that waits for a broker which never comes."""
    machine, places = control.machine, control.places
    return {
        "node": 0,
        "incarnation": 1,
        "variant": "kafka-2.7",
        "cluster": {"brokers": 1, "replication_factor": 1, "settings": {"min_isr": 1}},
        "listeners": {"internal": {"bind": machine.internal, "advertise": machine.internal}},
        "peers": {"0": machine.internal, "1": "127.0.0.1:9"},
        "hosts": {"1": "127.0.0.1:9"},
        "admin": f"127.0.0.1:{machine.admin_port}",
        "data": places.data,
        "volatile": places.volatile,
        "trace": places.trace,
    }
