"""A machine that is this computer, on which nothing runs: its files are evidence."""

import pytest
from local_machine import LocalMachine

from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.machines.node_places import Places


@pytest.fixture
def control(tmp_path):
    """The controller's."""
    return NodeControl(LocalMachine(0, [1, 2, 3]), Places(str(tmp_path)))
