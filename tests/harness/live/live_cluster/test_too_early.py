"""Who comes back before it may is started again, and given up after some times."""

import pytest
from played_nodes import PlayedSystem, booted, settle

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.machines.errors import NodeError


class KeepsItsController(PlayedSystem):
    """Its controller is killed with its process."""

    fail_controller = None


def settle_often(cluster):
    for _ in range(8):
        settle(cluster)


def comes_too_early(node, times):
    """Its next starts fail so many times, because its id is taken; stays as it is until it starts."""
    begin, fails = node.start, [True] * times

    def start(config, *, clock_faults):
        if not fails:
            begin(config, clock_faults=clock_faults)
            return
        fails.pop()
        node._do("start too early")
        node.end_told = "fatal"
        raise NodeError(f"{node.name}: the node process ended at once")

    node.start = start
    node.took_leave = lambda: None if node.process == "running" else (node.end_told, "my id is taken")


@pytest.mark.parametrize("node", [0, 1])
def test_who_comes_too_early_is_started_again_and_the_history_says_so(system, node):
    system.__class__ = KeepsItsController
    cluster = booted(system)
    comes_too_early(system.nodes[node], 2)
    cluster.stop(node, "crash")
    cluster.start(node)
    settle(cluster)
    settle(cluster)

    assert system.nodes[node].done[-3:] == ["start too early", "start too early", "start"]
    assert cluster.running(node)
    assert cluster.processes.died == []
    told = [(one["node"], one["incarnation"], one["log"]) for one in cluster.processes.started_again]
    assert told == [(node, 2, "my id is taken"), (node, 3, "my id is taken")]
    assert cluster.processes.excused == {(node, 2), (node, 3)}
    assert not cluster.processes.away(node)


def test_who_comes_too_early_again_and_again_is_given_up(system):
    cluster = booted(system)
    comes_too_early(system.nodes[1], 9)
    cluster.stop(1, "crash")
    cluster.start(1)
    settle_often(cluster)

    assert system.nodes[1].done.count("start too early") == 6
    assert not cluster.running(1)
    assert [(death["incarnation"], death["how"]) for death in cluster.processes.died] == [(7, "broken-off")]


def test_a_controller_that_comes_too_early_again_and_again_ends_the_run(system):
    system.__class__ = KeepsItsController
    cluster = booted(system)
    comes_too_early(system.nodes[0], 9)
    cluster.stop(0, "crash")
    cluster.start(0)
    with pytest.raises(RunError, match=r"^the controller's process ended: my id is taken$"):
        settle_often(cluster)


def test_a_start_that_works_begins_the_count_anew(system):
    cluster = booted(system)
    for _ in range(3):
        comes_too_early(system.nodes[1], 2)
        cluster.stop(1, "crash")
        cluster.start(1)
        settle_often(cluster)

    assert cluster.running(1)
    assert len(cluster.processes.started_again) == 6
    assert cluster.processes.died == []


def test_who_came_too_early_and_was_to_stop_is_not_started(system):
    cluster = booted(system)
    node = system.nodes[1]
    comes_too_early(node, 1)
    node.blocked = "start too early"
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.stop(1, "clean")
    node.go.set()
    settle_often(cluster)

    assert not cluster.running(1)
    assert node.done[-1] in {"start too early", "terminate"}
    assert cluster.processes.died == []
