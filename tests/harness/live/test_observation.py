"""How the cluster stands, as its nodes say."""

import pytest

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.observation import CONTROLLER_PATIENCE_S, PATIENCE_S, Observation, partition_view
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.runs.at_rest import restored

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


def said(role, epoch, leo=5, leader=-1):
    replica = {"role": role, "leader_epoch": epoch, "leader": leader, "leo": leo, "hw": 5, "isr": [], "refused": ""}
    return {"partitions": {"t-0": {**replica, "isr": [1, 2, 3] if role == "leader" else []}}}


class PlayedServer(PlayedAdmin):
    """A server that says this, or nothing."""

    def __init__(self, status, is_open=True):
        super().__init__(0)
        self.status = status
        self.is_open = is_open

    def wait(self, future, do, timeout_s):
        if self.status is None:
            raise NodeError("it is paused")
        return self.status


def test_without_a_controller_the_highest_generation_that_somebody_leads_counts():
    nodes = {
        1: PlayedServer(said("leader", 1)),
        2: PlayedServer(said("leader", 3)),
        3: PlayedServer(said("follower", 3)),
    }
    seen = Observation(nodes, assignment={"t-0": (1, 2, 3)})

    assert (seen.partition("t-0")["leader"], seen.partition("t-0")["isr"]) == (2, [1, 2, 3])
    assert restored(Observation({n: nodes[n] for n in (2, 3)}, assignment={"t-0": (2, 3)}).views()["t-0"]) is False


def test_a_paused_leader_is_the_leader_that_it_was_and_a_dead_one_is_none():
    paused = set()
    nodes = {1: PlayedServer(said("leader", 2)), 2: PlayedServer(said("follower", 2))}
    seen = Observation(nodes, lambda node: node in paused, {"t-0": (1, 2)})
    assert seen.partition("t-0")["leader"] == 1

    paused.add(1)
    seen.forget()
    assert seen.partition("t-0")["leader"] == 1
    paused.clear()
    nodes[1].is_open = False
    seen.forget()
    assert seen.partition("t-0")["leader"] == -1


def test_a_follower_may_have_more_than_its_leader_without_a_controller():
    nodes = {1: PlayedServer(said("leader", 2)), 2: PlayedServer(said("follower", 2, leo=9))}
    view = Observation(nodes, assignment={"t-0": (1, 2)}).views()["t-0"]

    assert view.brokers[2].leo == 5


class PlayedController(PlayedAdmin):
    """One of several controllers, which has read so far and takes this broker for the leader; or does not answer."""

    def __init__(self, offset, leader):
        super().__init__(takes_s=0)
        self.offset, self.leader = offset, leader

    def wait(self, future, do, timeout_s):
        if self.offset < 0:
            raise NodeError("gone")
        state = {**STATE, "leader": self.leader}
        return {"partitions": {}, "controller": {"offset": self.offset, "partitions": {"t-0": state}}}


def test_of_several_controllers_whoever_has_read_furthest_says_how_partitions_stand():
    nodes = [PlayedController(5, 1), PlayedController(9, 2), PlayedController(7, 3)]
    seen = Observation(dict(enumerate(nodes)), controllers=(0, 1, 2))

    assert seen.partition("t-0")["leader"] == 2
    assert seen.views()["t-0"].leader == 2


def test_what_is_known_of_several_controllers_does_not_go_back_while_some_are_gone():
    nodes = [PlayedController(5, 1), PlayedController(9, 2), PlayedController(7, 3)]
    seen = Observation(dict(enumerate(nodes)), controllers=(0, 1, 2))
    seen.partition("t-0")
    nodes[1].offset = -1
    seen.forget()

    assert seen.partition("t-0")["leader"] == 2
    nodes[0].offset = nodes[2].offset = -1
    seen.forget()
    assert seen.partition("t-0")["leader"] == 2
    nodes[2].offset = 10
    seen.forget()
    assert seen.partition("t-0")["leader"] == 3
