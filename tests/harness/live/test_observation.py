"""How the cluster stands, as its nodes say."""

import pytest

from harness.evidence.run_error import RunError
from harness.live.observation import CONTROLLER_PATIENCE_S, PATIENCE_S, Observation, partition_view
from harness.machines.errors import NodeError

STATE = {"leader": 1, "leader_epoch": 0, "isr": [1], "elr": [], "replicas": [1]}


class PlayedAdmin:
    """A node that takes so many seconds to answer."""

    is_open = True

    def __init__(self, takes_s):
        self.takes_s = takes_s
        self.admin = self

    def post(self, do):
        return do

    def wait(self, future, do, timeout_s):
        if timeout_s < self.takes_s:
            raise NodeError("too slow")
        return {"partitions": {"t-0": STATE}}


def test_a_controller_that_is_slow_to_answer_is_waited_for():
    slow = PlayedAdmin(takes_s=(PATIENCE_S + CONTROLLER_PATIENCE_S) / 2)

    assert Observation({0: slow}).views()["t-0"].leader == 1


def test_a_controller_that_does_not_answer_ends_the_run():
    with pytest.raises(RunError, match=r"^the controller does not say who leads$"):
        Observation({0: PlayedAdmin(takes_s=CONTROLLER_PATIENCE_S + 1)}).views()


def test_a_node_is_given_the_time_that_was_asked_for():
    nodes = Observation({1: PlayedAdmin(takes_s=5)})

    assert nodes.statuses((1,))[1] is None
    assert nodes.statuses((1,), 6)[1] is not None


@pytest.mark.parametrize(
    ("adding", "removing", "target"), [([], [], ()), ([3], [1], (2, 3)), ([], [1], (2, 3)), ([3], [], (1, 2, 3))]
)
def test_a_reassignment_has_a_target_while_it_is_under_way(adding, removing, target):
    state = {**STATE, "replicas": [1, 2, 3], "adding": adding, "removing": removing}

    assert partition_view("t-0", state, {}).target == target


def test_a_system_that_says_nothing_of_reassignments_has_none():
    assert partition_view("t-0", STATE, {}).target == ()
