"""The control of a program that a keeper keeps."""

import pytest

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.systems.outside.control import KeptControl


@pytest.fixture
def control(monkeypatch):
    """One whose kills come to what is listed: whether there was a process, or an error."""
    made = object.__new__(KeptControl)
    made.kills = []

    def kill(self):
        answer = self.kills.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(NodeControl, "kill", kill)
    return made


def test_a_keeper_that_outlives_its_program_is_killed_as_well(control):
    control.kills = [NodeError("running after SIGKILL"), True]
    assert control.kill()


def test_a_machine_that_cannot_be_reached_is_still_an_error(control):
    control.kills = [NodeError("no machine"), NodeError("no machine")]
    with pytest.raises(NodeError, match="no machine"):
        control.kill()
