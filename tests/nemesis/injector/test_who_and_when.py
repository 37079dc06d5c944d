"""Whom the injector's faults mean, and when they strike: at their time, or at an event they wait for."""

import pytest

from tidemark.nemesis import Fault, Trigger

NO_LEADER = {"leader": -1, "isr": ()}


# Who


@pytest.mark.parametrize(
    ("target", "pick", "state", "node"),
    [
        pytest.param("leader", 0, {}, 1, id="the leader"),
        pytest.param("leader", 0, {"leader": 3}, 3, id="another leader"),
        pytest.param("leader", 4, NO_LEADER, 2, id="without one: any replica"),
        pytest.param("follower", 0, {}, 2, id="the first follower"),
        pytest.param("follower", 1, {}, 3, id="the second"),
        pytest.param("follower", 2, {}, 2, id="picks go round"),
        pytest.param("follower", 0, {"isr": (1, 3)}, 3, id="followers in the ISR first"),
        pytest.param("follower", 0, {"isr": (1,)}, 2, id="without such, one outside it"),
        pytest.param("follower", 0, NO_LEADER, 1, id="without a leader all replicas follow"),
        pytest.param("follower", 5, {"replicas": (1,), "isr": (1,)}, 1, id="without followers the leader stands in"),
        pytest.param("isr-member", 0, {"isr": (3, 2)}, 2, id="ISR members in assignment order"),
        pytest.param("isr-member", 1, {"isr": (3, 2)}, 3, id="the second of them"),
        pytest.param("isr-member", 1, NO_LEADER, 2, id="without an ISR any replica"),
        pytest.param("any", 2, {}, 3, id="any replica"),
        pytest.param("any", 3, {}, 1, id="not a broker without the partition"),
        pytest.param("b4", 2, {}, 4, id="a broker by name"),
    ],
)
def test_a_role_is_resolved(world, target, pick, state, node):
    w, _ = world(Fault("pause", 5, 10, target, pick), **state)
    w.until(5)

    assert w.said == [("pause", node)]


def test_a_role_is_resolved_when_the_fault_strikes(world):
    w, _ = world(Fault("pause", 5, 10))
    w.states["t-0"]["leader"] = 2
    w.until(5)

    assert w.said == [("pause", 2)]


def test_but_healed_is_who_was_struck(world):
    w, _ = world(Fault("pause", 5, 10))
    w.until(5)
    w.states["t-0"]["leader"] = 2
    w.until(15)

    assert w.said == [("pause", 1), ("resume", 1)]


@pytest.mark.parametrize(("partition", "node"), [(0, 1), (1, 3), (2, 1), (3, 3)])
def test_the_partition_is_taken_modulo_their_number(world, partition, node):
    more = {"t-1": {"leader": 3, "isr": (3,), "replicas": (3, 4, 1)}}
    w, _ = world(Fault("pause", 5, 10, partition=partition), more=more)
    w.until(5)

    assert w.said == [("pause", node)]


# When


def test_a_fault_strikes_at_its_time_and_is_healed_after_its_duration(world):
    w, _ = world(Fault("pause", 5, 10))
    w.until(4)
    assert w.said == []
    w.until(14)
    assert w.said == [("pause", 1)]
    w.until(15)

    assert w.said == [("pause", 1), ("resume", 1)]
    assert w.entries == [
        (5, "strike", 0, "pause", {"node": 1, "role": "leader", "partition": "t-0"}),
        (15, "heal", 0, "pause", {}),
    ]


def test_a_triggered_fault_strikes_at_the_nth_event(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 3)))
    for at, node in ((1, 1), (2, 2)):
        w.until(at)
        w.happened("append", node)
    assert w.said == []

    w.until(3)
    w.happened("append", 1)
    assert w.struck() == [(3, 0, "pause", 1)]


def test_it_strikes_once(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 1)))
    for _ in range(5):
        w.happened("append", 1)

    assert w.said == [("pause", 1)]


def test_events_before_its_time_do_not_count(world):
    w, _ = world(Fault("pause", 100, 10, after=Trigger("append", 2)))
    w.until(99)
    for _ in range(5):
        w.happened("append", 1)
    w.until(100)
    w.happened("append", 1)
    assert w.said == []

    w.happened("append", 1)
    assert w.struck() == [(100, 0, "pause", 1)]


def test_only_events_of_its_node_count(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 2, node=3)))
    for node in (3, 1, 2, 1):
        w.happened("append", node)
    assert w.said == []

    w.happened("append", 3)
    assert w.said == [("pause", 1)]


def test_other_events_do_not_count(world):
    w, _ = world(Fault("pause", 0, 10, after=Trigger("append", 1)))
    w.happened("lead", 1)

    assert w.said == []


def test_a_trigger_waits_until_the_node_has_finished_its_step(world):
    """The strike is scheduled, not made from inside the event."""
    w, _ = world(Fault("crash", 0, 10, after=Trigger("append", 1)))
    for callback in w.watchers["append"]:
        callback(1)
    assert w.said == []

    w.until(0)
    assert w.said == [("stop", 1, "crash")]
