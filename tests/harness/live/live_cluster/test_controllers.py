"""The controller fails alone, or with its process: what it said last stands meanwhile, and its own end ends the run."""

import pytest
from played_nodes import T, quiet_cluster, settle, told

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.tidemark import TidemarkSystem


class WithControllerOfItsOwn(TidemarkSystem):
    """As real Kafka's, which is killed with its process."""

    fail_controller = None


@pytest.fixture
def killable():
    """A cluster whose controller's process can be killed."""
    with quiet_cluster(WithControllerOfItsOwn()) as made:
        yield made


def test_a_run_without_its_controller_is_no_run(cluster):
    cluster.nodes[0].end_itself("")
    with pytest.raises(RunError, match=r"^the controller's process ended: last words$"):
        settle(cluster)


def test_our_own_controller_fails_and_is_replaced_while_its_process_goes_on(cluster):
    cluster.stop(0, "crash")
    assert not cluster.running(0)
    cluster.start(0)
    assert cluster.running(0)
    settle(cluster)

    assert cluster.nodes[0].done == ["controller {'there': False}", "controller {'there': True}"]
    assert told(cluster) == []


def test_while_the_controller_is_down_what_it_said_last_stands(killable):
    assert killable.leader_of(T) == 1
    controller = killable.nodes[0]
    controller.blocked = "start"
    answers = controller.status

    def status(timeout_s=5.0):
        raise NodeError("nobody there")

    controller.status = status
    killable.stop(0, "crash")
    killable.observation.forget()
    assert not killable.running(0)
    assert killable.leader_of(T) == 1
    killable.start(0)
    assert killable.leader_of(T) == 1
    controller.status = answers
    controller.go.set()
    settle(killable)

    assert controller.done == ["kill", "start"]
    assert told(killable) == []
    assert not killable.processes.away(0)


def test_a_controller_that_is_to_be_killed_again_while_it_starts_stays_away(killable):
    """It answers for a moment, and nobody knows then that it will be gone."""
    assert killable.leader_of(T) == 1
    controller = killable.nodes[0]
    controller.blocked = "start"
    killable.stop(0, "crash")
    killable.start(0)
    killable.stop(0, "crash")
    controller.go.set()
    settle(killable)

    assert controller.done == ["kill", "start", "kill"]
    assert killable.processes.away(0)
