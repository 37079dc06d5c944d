"""What faults ask of the cluster: elections, fast failovers, replicas and logs that move, settings, voters."""

import pytest

from tidemark.nemesis import Fault
from tidemark.nemesis.links import CONTROLLER

# Elections asked for


@pytest.mark.parametrize(
    ("kind", "how"),
    [("preferred-election", "preferred"), ("forced-election", "forced"), ("unclean-election", "unclean")],
)
def test_an_election_is_asked_for_and_needs_no_healing(world, kind, how):
    w, _ = world(Fault(kind, 5, 10, "follower"))
    w.until(99)

    assert w.said == [("elect", "t-0", how, 2)]
    assert w.healed() == []


# Fast failover


def failover(world, pick, **state):
    w, injector = world(Fault("fast-failover", 5, 50, "follower", pick, amount=10), **state)
    w.until(5)
    return w, injector


def test_the_target_is_elected_and_a_moment_later_the_old_leader_again(world):
    """KAFKA-6361."""
    w, _ = failover(world, 1)
    assert [s for s in w.said if s[0] == "elect"] == [("elect", "t-0", "forced", 3)]

    w.until(14)
    assert len([s for s in w.said if s[0] == "elect"]) == 1
    w.until(15)
    assert [s for s in w.said if s[0] == "elect"][1:] == [("elect", "t-0", "forced", 1)]


@pytest.mark.parametrize(
    ("pick", "node", "then"), [(0, 2, 1), (3, 3, 2), (1, 3, 1), (2, 2, 1), (4, 2, 1), (6, 2, 1), (9, 3, 2)]
)
def test_the_second_leader_is_another_replica_for_every_third_pick_and_else_the_old_leader(world, pick, node, then):
    w, _ = failover(world, pick)

    assert (w.entries[0][4]["node"], w.entries[0][4]["then"]) == (node, then)


@pytest.mark.parametrize(
    ("pick", "deaf"),
    [
        pytest.param(0, None, id="0-2: nobody"),
        pytest.param(2, None, id="0-2: still nobody"),
        pytest.param(3, 1, id="3-5: the old leader"),
        pytest.param(5, 1, id="3-5: the old leader again"),
        pytest.param(6, 3, id="6-8: a bystander (2 is elected)"),
        pytest.param(7, 2, id="6-8: a bystander (3 is elected)"),
        pytest.param(9, None, id="9-11: nobody"),
    ],
)
def test_somebody_may_be_deaf_to_the_controller_meanwhile(world, pick, deaf):
    """KAFKA-6880: a zombie follower goes on fetching from whom it knows."""
    w, _ = failover(world, pick)

    assert w.entries[0][4].get("deaf") == deaf
    assert w.links == ({} if deaf is None else {0: ({(CONTROLLER, deaf)}, "lost-leadership", 0)})


def test_the_deaf_one_hears_again_at_the_end(world):
    w, _ = failover(world, 3)
    w.until(54)
    assert w.links != {}

    w.until(55)
    assert w.links == {}
    assert w.healed() == [(55, 0, "fast-failover")]


def test_with_two_replicas_the_old_leader_is_the_bystander(world):
    w, _ = failover(world, 6, replicas=(1, 2), isr=(1, 2))

    assert w.entries[0][4]["deaf"] == 1


def test_without_a_leader_nobody_is_deaf_in_its_stead(world):
    w, _ = failover(world, 3, leader=-1)

    assert w.links == {}


def test_the_second_election_is_not_made_after_the_end(world):
    w, injector = failover(world, 1)
    injector.heal_all()
    w.until(99)

    assert [s for s in w.said if s[0] == "elect"] == [("elect", "t-0", "forced", 3)]


def test_a_lone_replica_is_elected_twice(world):
    w, _ = failover(world, 0, replicas=(1,), isr=(1,))
    w.until(15)

    assert [s[3] for s in w.said if s[0] == "elect"] == [1, 1]


# Replicas that move


MOVE = "reassignment"


@pytest.mark.parametrize(
    ("pick", "replicas"),
    [
        pytest.param(0, (4, 2, 3), id="in its place"),
        pytest.param(1, (2, 3, 4), id="as the last"),
        pytest.param(2, (4, 2, 3), id="there is one broker to come"),
    ],
)
def test_a_replica_moves_to_a_broker_that_has_none(world, pick, replicas):
    w, _ = world(Fault(MOVE, 5, 10, "leader", pick))
    w.until(5)

    assert w.said == [("reassign", "t-0", replicas)]


@pytest.mark.parametrize(("pick", "to"), [(0, 4), (2, 5), (4, 4), (3, 5)])
def test_which_broker_is_picked(world, pick, to):
    w, _ = world(Fault(MOVE, 5, 10, "leader", pick), brokers=(1, 2, 3, 4, 5))
    w.until(5)

    ((_, _, replicas),) = w.said
    assert set(replicas) == {2, 3, to}


def test_what_it_is_to_be_is_told_and_nothing_is_healed(world):
    w, _ = world(Fault(MOVE, 5, 10, "follower", 0))
    w.until(20)

    assert w.entries == [
        (5, "strike", 0, MOVE, {"node": 2, "role": "follower", "partition": "t-0", "replicas": [1, 4, 3]})
    ]


def test_while_one_is_under_way_it_goes_on_from_where_that_one_leads(world):
    w, _ = world(Fault(MOVE, 5, 10, "b3", 0), replicas=(2, 3, 4, 1), more=())
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 1, 4))]


def test_who_comes_may_be_sent_back_before_it_has_come(world):
    w, _ = world(Fault(MOVE, 5, 10, "b4", 1), replicas=(2, 3, 4, 1))
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 3, 1))]


def test_in_place_of_one_that_is_about_to_go_another_moves(world):
    w, _ = world(Fault(MOVE, 5, 10, "leader", 4), leader=1, replicas=(2, 3, 4, 1))
    w.states["t-0"]["target"] = (2, 3, 4)
    w.until(5)

    assert w.said == [("reassign", "t-0", (2, 1, 4))]
    assert w.struck() == [(5, 0, MOVE, 3)]


def test_with_a_replica_everywhere_nothing_moves(world):
    w, _ = world(Fault(MOVE, 5, 10), brokers=(1, 2, 3))
    w.until(5)

    assert w.said == []
    assert w.struck() == [(5, 0, MOVE, 1)]


@pytest.mark.parametrize(("target", "pick", "left"), [("b2", 0, (1, 3)), ("b4", 1, (1, 3)), ("b4", 2, (1, 2))])
def test_one_replica_is_taken_away(world, target, pick, left):
    w, _ = world(Fault("one-fewer-replica", 5, 10, target, pick))
    w.until(20)

    assert w.said == [("reassign", "t-0", left)]
    assert w.entries[0][4]["replicas"] == list(left)


def test_the_only_replica_stays(world):
    w, _ = world(Fault("one-fewer-replica", 5, 10), replicas=(1,))
    w.until(5)

    assert w.said == []


# Settings, logs and voters


def test_min_isr_is_set_and_set_back(world):
    w, _ = world(Fault("min-isr", 5, 10, amount=1))
    w.until(20)

    assert w.said == [("min ISR", 1), ("min ISR", None)]
    assert w.entries[0][4]["min_isr"] == 1


def test_elr_is_switched_off_and_on_again(world):
    w, _ = world(Fault("elr-off", 5, 10))
    w.until(5)
    assert w.said == [("ELR", False)]
    w.until(20)
    assert w.said == [("ELR", False), ("ELR", True)]


def test_unclean_elections_are_allowed_and_then_as_they_were(world):
    w, _ = world(Fault("unclean-allowed", 5, 10))
    w.until(20)

    assert w.said == [("unclean", True), ("unclean", None)]


def test_a_log_is_moved_and_what_throttled_it_is_taken_off(world):
    w, _ = world(Fault("move-log-dir", 5, 10, "b2", amount=100), Fault("move-log-dir", 6, 10, "b1"))
    w.until(30)

    (partition,) = {one[1] for one in w.said if one[0] == "move"}
    assert w.said == [("move", partition, 2, 100), ("move", partition, 1, 0), ("unthrottle", 2)]


def test_a_voter_that_several_faults_remove_is_added_with_the_last(world):
    w, _ = world(
        Fault("remove-voter", 5, 10, pick=5), Fault("remove-voter", 6, 20, pick=2), Fault("remove-voter", 7, 1)
    )
    w.until(30)

    assert w.said == [("voter", 2, False), ("voter", 0, False), ("voter", 0, True), ("voter", 2, True)]
    assert [entry[4]["node"] for entry in w.entries if entry[1] == "strike"] == [2, 2, 0]
