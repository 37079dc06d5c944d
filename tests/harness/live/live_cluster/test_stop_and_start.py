"""A broker is stopped in each way there is, paused, and started again: in this order, once each, and told in the trace."""

import pytest
from played_nodes import T, booted, settle, told

from tidemark.harness.evidence.run_error import RunError
from tidemark.nemesis.damage import Damage


def test_a_crash_is_traced_and_a_start_is_the_next_incarnation(cluster):
    cluster.stop(1, "crash")

    assert not cluster.running(1)

    cluster.start(1)

    assert cluster.running(1)
    settle(cluster)
    assert cluster.nodes[1].done == ["kill", "start"]
    assert cluster.nodes[1].config["incarnation"] == 2
    assert told(cluster) == [(1, "stop", "", "crash")]


def test_stopping_what_does_not_run_and_starting_what_does_is_nothing(cluster):
    cluster.start(1)
    cluster.stop(2, "crash")
    cluster.stop(2, "disk")
    settle(cluster)

    assert cluster.nodes[1].done == []
    assert cluster.nodes[2].done == ["kill"]


def test_a_machine_whose_process_was_killed_can_lose_its_power_once(cluster):
    for how in ("crash", "power", "power"):
        cluster.stop(1, how)
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash"), (1, "stop", "", "power")]
    assert cluster.nodes[1].done == ["kill", "lose power"]


def test_after_a_clean_stop_there_is_nothing_that_was_not_synced(cluster):
    cluster.stop(1, "clean")
    settle(cluster)
    cluster.nodes[1].end_itself("clean")
    settle(cluster)
    cluster.stop(1, "power")
    settle(cluster)

    assert cluster.nodes[1].done == ["terminate"]


def test_nor_is_there_if_it_had_closed_its_logs_before_it_was_killed(cluster):
    for broker, kills in ((1, ["power"]), (2, ["crash", "power"])):
        cluster.nodes[broker].end_told = "clean"
        for how in kills:
            cluster.stop(broker, how)
    settle(cluster)

    assert told(cluster) == []
    assert [cluster.nodes[broker].done for broker in (1, 2)] == [["kill"], ["kill"]]


def test_a_power_loss_draws_its_own_seed(cluster):
    cluster.stop(1, "power")
    cluster.stop(2, "power")
    settle(cluster)

    assert sorted(told(cluster)) == [(1, "stop", "", "power"), (2, "stop", "", "power")]
    assert cluster.nodes[1].done == ["kill", "lose power"]
    assert cluster.nodes[1].seed != cluster.nodes[2].seed


def test_a_lost_disk_keeps_a_directory_for_each_partition(cluster):
    cluster.stop(2, "disk")
    settle(cluster)

    assert cluster.nodes[2].done == ["kill", f"lose disk ('{T}',)"]
    assert told(cluster) == [(2, "stop", "", "disk")]


def test_files_are_damaged_once_the_process_is_dead_and_it_is_told_what_was_done(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("cut-tail", 300, 0, 5))
    settle(cluster)

    assert cluster.nodes[1].done[0] == "kill"
    assert cluster.nodes[1].done[1].startswith("cut-tail")
    assert told(cluster) == [(1, "stop", "", "damage")]
    assert [(one["node"], one["how"], one["files"][0]["cut"]) for one in cluster.processes.damage_done] == [
        (1, "cut-tail", 3)
    ]


def test_files_of_a_node_that_is_down_are_damaged_and_the_trace_tells(cluster):
    cluster.stop(1, "crash")
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash"), (1, "stop", "", "damage")]


def test_a_killed_container_is_a_power_loss(cluster):
    cluster.stop(1, "container")
    settle(cluster)

    assert cluster.nodes[1].done == ["restart machine"]
    assert told(cluster) == [(1, "stop", "", "power")]


def test_a_killed_container_is_a_crash_where_all_that_was_written_survives(cluster):
    cluster.system.container_kill = "crash"
    cluster.stop(1, "container")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]


def test_a_clean_stop_ends_when_the_process_does(cluster):
    cluster.stop(1, "clean")
    cluster.stop(1, "clean")
    settle(cluster)

    assert cluster.running(1)
    assert cluster.nodes[1].done == ["terminate"]

    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert not cluster.running(1)
    assert told(cluster) == []
    assert cluster.processes.died == []


def test_a_start_during_a_clean_stop_is_done_after_it(cluster):
    cluster.stop(1, "clean")
    cluster.start(1)
    settle(cluster)

    assert cluster.nodes[1].done == ["terminate"]

    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert cluster.running(1)
    assert cluster.nodes[1].done == ["terminate", "start"]


def test_a_crash_during_a_clean_stop_wins_unless_the_process_was_faster(cluster):
    cluster.stop(1, "clean")
    cluster.stop(2, "clean")
    settle(cluster)
    cluster.nodes[2].end_told = "clean"
    cluster.stop(1, "crash")
    cluster.stop(2, "crash")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]


def test_pause_and_resume_are_traced_once(cluster):
    cluster.resume(1)
    cluster.pause(1)
    cluster.pause(1)
    cluster.resume(1)
    settle(cluster)

    assert told(cluster) == [(1, "pause", ""), (1, "resume", "")]


def test_a_stop_ends_a_pause(cluster):
    cluster.pause(1)
    cluster.stop(1, "crash")
    cluster.resume(1)
    settle(cluster)

    assert told(cluster) == [(1, "pause", ""), (1, "stop", "", "crash")]


def test_what_cannot_be_done_fails_the_run(cluster):
    cluster.nodes[1].fails = "kill"
    cluster.stop(1, "crash")
    with pytest.raises(RunError, match=r"^cannot stop b1: b1 is on fire$"):
        settle(cluster)


def test_a_start_that_was_wanted_is_not_if_another_fault_stops_the_broker(cluster):
    cluster.stop(1, "clean")
    cluster.start(1)
    cluster.stop(1, "clean")
    cluster.nodes[1].end_itself("clean")
    settle(cluster)

    assert not cluster.running(1)


def test_a_broker_that_does_not_start_fails_the_run(cluster):
    cluster.stop(1, "crash")
    cluster.nodes[1].fails = "start"
    cluster.start(1)
    with pytest.raises(RunError, match=r"^cannot start b1: b1 is on fire$"):
        settle(cluster)


def test_those_who_watch_an_event_are_told_the_node(cluster):
    seen = []
    cluster.on_trace("append", seen.append)
    cluster.on_trace("append", seen.append)
    cluster.on_trace("start", seen.append)
    settle(cluster)
    cluster.nodes[2].traced([1, 2, "append", T, 0, 0, 1])
    cluster.nodes[2].traced([1, 2, "hw", T, 1, 0, True])
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)

    assert seen == [2, 2, 1]
    assert cluster.nodes[1].done[:2] == ["watch ('append',)", "watch ('append', 'start')"]


def test_what_would_keep_a_process_from_starting_again_is_waited_for_before_it_is_started(system):
    cluster = booted(system)
    cluster.stop(1, "crash")
    cluster.start(1)
    settle(cluster)

    assert system.asked == [("before_start", 1, {0: 1, 1: 1, 2: 1})]
    assert system.nodes[1].done.count("start") == 2


def test_that_wait_is_the_nodes_own(system):
    """Links, other nodes and the run go on meanwhile."""
    cluster = booted(system)
    system.blocked = True
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.stop(2, "crash")
    cluster.set_link_fault(3, ((1, 2),), "cut", 0)
    while "kill" not in system.nodes[2].done or "links" not in system.nodes[1].done:
        cluster.run_until(cluster.now_us() + 1_000)

    assert system.nodes[1].done.count("start") == 1

    system.go.set()
    settle(cluster)

    assert system.nodes[1].done[-1] == "start"


@pytest.mark.parametrize("kill", ["power", "crash"])
def test_what_the_kill_of_a_container_is_to_its_files_depends_on_the_system(system, kill):
    system.container_kill = kill
    cluster = booted(system)
    cluster.stop(1, "container")
    settle(cluster)

    assert told(cluster)[-1] == (1, "stop", "", kill)
