"""A process that ends by itself is noticed, and what that means depends on its last words, its disk and its files."""

import pytest
from played_nodes import booted, settle, told

from tidemark.harness.evidence.run_error import RunError
from tidemark.nemesis.damage import Damage


def test_who_ends_by_itself_on_damaged_files_has_refused_and_not_died(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    cluster.start(1)
    settle(cluster)
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.processes.died == []
    assert [(one["node"], one["incarnation"]) for one in cluster.processes.gave_up_damaged] == [(1, 2)]
    assert cluster.processes.gave_up(1)
    assert cluster.processes.damaged() == (1,)
    assert (1, 2) in cluster.processes.excused


def test_who_does_not_even_start_on_them_has_refused_too(cluster):
    cluster.stop(1, "damage")
    cluster.damage(1, Damage("flip-bits", 3, 0, 5))
    cluster.nodes[1].fails = "start"
    cluster.start(1)
    settle(cluster)
    settle(cluster)

    assert not cluster.running(1)
    assert [one["node"] for one in cluster.processes.gave_up_damaged] == [1]


def test_a_broker_that_gave_up_just_before_it_was_killed_is_known_to_have(cluster):
    cluster.system.is_halt = lambda words: words != "last words"
    cluster.hinder(5, 1, "disk-full", 0)
    settle(cluster)
    for broker in (1, 2):
        cluster.nodes[broker].end_told = "fatal"
        cluster.stop(broker, "crash")
    settle(cluster)

    assert told(cluster) == []  # each has told of its end itself
    assert cluster.processes.starved == {(1, 1)}
    (death,) = cluster.processes.died
    assert (death["node"], death["incarnation"], death["how"], death["log"]) == (2, 1, "broken-off", "last words")
    assert not cluster.processes.gave_up(1)


def test_a_process_that_dies_without_a_word_is_noticed(cluster):
    cluster.nodes[1].end_itself("")
    settle(cluster)

    assert told(cluster) == [(1, "stop", "", "crash")]
    assert not cluster.running(1)
    assert cluster.processes.gave_up(1)
    (death,) = cluster.processes.died
    assert (death["node"], death["incarnation"], death["how"], death["log"]) == (1, 1, "broken-off", "last words")

    cluster.start(1)
    settle(cluster)

    assert not cluster.processes.gave_up(1)


def test_a_process_that_gives_up_has_traced_that_itself(cluster):
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert told(cluster) == []
    assert [death["how"] for death in cluster.processes.died] == ["fatal"]


def test_a_lost_connection_is_no_death(cluster):
    cluster.nodes[1].lost()
    settle(cluster)

    assert cluster.running(1)


def test_a_broker_that_gave_up_for_want_of_room_starts_when_there_is_some(cluster):
    node = cluster.nodes[1]
    cluster.hinder(5, 1, "disk-full", 0)
    node.end_itself("fatal")
    settle(cluster)

    assert not cluster.running(1)
    assert cluster.processes.died == []
    assert cluster.processes.starved == {(1, 1)}

    cluster.unhinder(5)
    settle(cluster)

    assert cluster.running(1)
    assert node.done == ["hindrances [('disk-full', 0)]", "hindrances []", "start"]


def test_a_broker_that_was_asked_to_stop_does_not_wait_for_room(cluster):
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.stop(1, "clean")
    settle(cluster)
    cluster.nodes[1].end_itself("clean")
    settle(cluster)
    cluster.unhinder(5)
    settle(cluster)

    assert not cluster.running(1)


def test_a_broker_that_is_to_be_down_is_not_started_by_room(cluster):
    """Another fault holds it down: it gave up before, or gives up while it shuts down."""
    for node, stopped_first in ((1, False), (2, True)):
        cluster.hinder(5, node, "disk-full", 0)
        if stopped_first:
            cluster.stop(node, "clean")
        cluster.nodes[node].end_itself("fatal")
        settle(cluster)
        cluster.stop(node, "clean")
        cluster.unhinder(5)
        settle(cluster)

        assert not cluster.running(node)


def test_a_broker_that_gives_up_just_when_room_is_made_starts_as_well(cluster):
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.unhinder(5)
    settle(cluster)
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.running(1)


def test_a_broker_that_cannot_start_for_want_of_room_waits_for_it(cluster):
    node = cluster.nodes[1]
    cluster.hinder(5, 1, "disk-full", 0)
    cluster.stop(1, "crash")
    settle(cluster)
    node.fails = "start"
    cluster.start(1)
    settle(cluster)

    assert not cluster.running(1)

    node.fails = None
    cluster.unhinder(5)
    settle(cluster)

    assert cluster.running(1)


@pytest.mark.parametrize(
    ("how", "words", "called"),
    [
        ("fatal", "Halting because log truncation is not allowed", "fatal"),
        ("fatal", "java.lang.OutOfMemoryError: Java heap space", "broken-off"),
        ("fatal", "", "broken-off"),
        ("", "Halting because log truncation is not allowed", "broken-off"),
        ("clean", "shut down completed", "clean"),
    ],
)
def test_only_an_end_that_the_protocol_wanted_is_a_finding(system, monkeypatch, how, words, called):
    cluster = booted(system)
    monkeypatch.setattr(system.nodes[1], "took_leave", lambda: (how, words))
    system.nodes[1].end_itself(how)
    settle(cluster)

    (death,) = cluster.processes.died
    assert (death["node"], death["how"], death["log"]) == (1, called, words)
    assert not cluster.running(1)


def test_a_broker_that_a_full_disk_ended_breaks_nothing_off(system):
    cluster = booted(system)
    cluster.hinder(5, 1, "disk-full", 0)
    system.nodes[1].end_itself("fatal")
    settle(cluster)

    assert cluster.processes.died == []
    assert cluster.processes.starved == {(1, 1)}


def test_what_is_not_done_in_time_is_told_with_the_processes_that_had_ended(cluster, monkeypatch):
    cluster.nodes[1].end_itself("fatal")
    settle(cluster)

    def never(_within_s):
        raise RunError("it is not done")

    monkeypatch.setattr(cluster.run_loop, "settle", never)
    with pytest.raises(
        RunError, match=rf"it is not done; the process of {cluster.nodes[1].name} had ended: last words"
    ):
        cluster.settle()
