"""What the controllers do with an operator's reassignment (KIP-455; docs/protocol.md, "Reassignments")."""

import pytest

from tidemark.nodes.core.events import ControllerElected, ControllerFailed
from tidemark.nodes.core.messages import Elect, LeaderAndIsr, Reassign

T = "t-0"
MS = 1_000
FOUR = (1, 2, 3, 4)


@pytest.fixture
def four(controller):
    """A controller of four brokers; the partition is on the first three, and broker 1 leads it in epoch 0."""

    def start(variant, **settings):
        return controller(variant, brokers=FOUR, **settings)

    return start


@pytest.fixture(params=["kafka-2.7", "kafka-3.7", "kafka-4.0"])
def any_era(four, request):
    return four(request.param)


def told(c, to):
    """(leader, leader epoch, ISR, replicas, whether to delete) of the last step's states for a broker."""
    return [(m.leader, m.leader_epoch, m.isr, m.replicas, m.delete) for m in c.sent(LeaderAndIsr, to=to)]


# What is refused, in both eras


@pytest.mark.parametrize(
    "replicas", [(), (2, 2, 3), (2, 3, 5)], ids=["none", "one twice", "a broker that is not there"]
)
def test_what_no_partition_can_have_is_refused(any_era, replicas):
    any_era.reassign(1, *replicas)

    assert any_era.did == [], "not even an order"
    assert any_era.assigned == ((1, 2, 3), (), ())


def test_nothing_is_reassigned_before_the_first_election(controller):
    c = controller("kafka-3.7", brokers=FOUR, opened=False)
    c.reassign(1, 2, 3, 4)

    assert c.assigned == ((1, 2, 3), (), ())


# What is the same in both eras


def test_old_and_new_replicas_are_there_until_it_ends(any_era):
    any_era.reassign(1, 2, 3, 4)

    assert any_era.assigned == ((2, 3, 4, 1), (4,), (1,))
    assert any_era.traced("reassign") == [((2, 3, 4, 1), (4,), (1,))]
    assert (any_era.state.leader, any_era.state.isr) == (1, (1, 2, 3))


def test_it_does_not_end_before_the_new_replica_is_in_the_isr(any_era):
    any_era.reassign(1, 2, 3, 4)
    any_era.alter(2, (1, 2))
    any_era.alter(3, (1, 2, 3))

    assert any_era.assigned == ((2, 3, 4, 1), (4,), (1,))


def test_then_who_is_to_go_is_gone_and_a_leader_among_them_gives_way(any_era):
    any_era.reassign(1, 2, 3, 4)
    any_era.alter(2, FOUR)

    assert any_era.assigned == ((2, 3, 4), (), ())
    assert any_era.traced("reassign") == [((2, 3, 4), (), ())]
    assert (any_era.state.leader, any_era.state.isr) == (2, (2, 3, 4))


def test_a_leader_that_stays_leads_on_in_a_new_epoch(any_era):
    any_era.reassign(1, 4, 2, 1)
    before = any_era.state.leader_epoch
    any_era.alter(2, FOUR)

    assert any_era.assigned == ((4, 2, 1), (), ())
    assert (any_era.state.leader, set(any_era.state.isr)) == (1, {1, 2, 4})
    assert any_era.state.leader_epoch > before


# KRaft


@pytest.fixture(params=["kafka-3.7", "kafka-4.0"])
def kraft(four, request):
    return four(request.param)


def test_with_kraft_it_begins_in_the_same_leader_epoch_and_all_are_told(kraft):
    kraft.reassign(1, 2, 3, 4)

    assert kraft.stands == (1, 0, (1, 2, 3), 1)
    assert [told(kraft, broker) for broker in FOUR] == [[(1, 0, (1, 2, 3), (2, 3, 4, 1), False)]] * 4


def test_with_kraft_it_ends_in_one_change_with_the_isr(kraft):
    kraft.reassign(1, 2, 3, 4)
    response = kraft.alter(2, FOUR)

    assert kraft.elected == [(2, 1, (2, 3, 4), (), "reassigned", True, 2)]
    assert [told(kraft, broker) for broker in FOUR] == [[(2, 1, (2, 3, 4), (2, 3, 4), False)]] * 4
    assert (response.error, response.leader_epoch) == ("NEW_LEADER_ELECTED", 1)


def test_a_leader_that_stays_is_answered_with_its_new_epoch(kraft):
    kraft.reassign(1, 1, 2, 4)
    response = kraft.alter(2, FOUR)

    assert (response.error, response.leader_epoch, response.isr) == (None, 1, (1, 2, 4))
    assert kraft.stands == (1, 1, (1, 2, 4), 2)


def test_a_replica_more_changes_no_leader_epoch(kraft):
    kraft.reassign(1, 1, 2, 3, 4)
    kraft.alter(2, FOUR)

    assert kraft.assigned == (FOUR, (), ())
    assert kraft.stands == (1, 0, FOUR, 2)


def test_a_replica_less_goes_at_once(kraft):
    kraft.reassign(1, 1, 2)

    assert kraft.assigned == ((1, 2), (), ())
    assert kraft.stands == (1, 1, (1, 2), 1)


def test_another_order_is_there_at_once(kraft):
    kraft.reassign(1, 3, 2, 1)

    assert kraft.assigned == ((3, 2, 1), (), ())
    assert kraft.stands == (1, 0, (1, 2, 3), 1)


def test_of_what_changes_nothing_only_the_order_is_told(kraft):
    kraft.reassign(1, 1, 2, 3)

    assert kraft.did == [(1, 0, "ordered", T, (1, 2, 3), True)]


@pytest.mark.parametrize("repaired", [False, True])
def test_with_kraft_an_order_that_removes_nobody_leaves_whom_the_one_before_removes(four, repaired):
    """``changePartitionReassignment`` writes no empty list (docs/findings/reassignment-replaced.md)."""
    c = four("kafka-4.0+obey-last-order" if repaired else "kafka-4.0")
    c.reassign(1, 4)
    c.reassign(2, 1, 2, 3, 4)
    c.alter(3, FOUR)

    assert c.assigned == ((FOUR, (), ()) if repaired else ((4,), (), ()))


@pytest.mark.parametrize("repaired", [False, True])
def test_with_the_rule_of_3_7_one_that_is_taken_back_waits_for_ever_for_whom_it_removes(four, repaired):
    c = four("kafka-3.7+obey-last-order" if repaired else "kafka-3.7")
    c.reassign(1, 1, 2, 4)
    c.reassign(2, 1, 2, 3)
    c.alter(3, (1, 2, 3))
    c.alter(4, FOUR)

    assert c.assigned == (((1, 2, 3), (), ()) if repaired else (FOUR, (4,), (4,)))


def test_with_kraft_a_broker_that_is_fenced_may_get_a_replica(kraft):
    kraft.lapse(1_001 * MS, 4)
    kraft.reassign(1_002 * MS, 1, 2, 4)

    assert kraft.assigned == ((1, 2, 4, 3), (4,), (3,))


def test_up_to_3_7_it_ends_though_others_of_the_target_lag(four):
    """KAFKA-15665: of the three replicas one is in sync."""
    c = four("kafka-3.7")
    c.alter(1, (1,))
    c.reassign(2, 2, 3, 4)
    c.alter(3, (1, 4))

    assert c.assigned == ((2, 3, 4), (), ())
    assert c.stands == (4, 1, (4,), 3)


@pytest.mark.parametrize("variant", ["kafka-4.0", "kafka-3.7+whole-target"])
def test_from_3_8_on_it_waits_for_all_of_them(four, variant):
    c = four(variant, min_isr=1)
    c.alter(1, (1,))
    c.reassign(2, 2, 3, 4)
    c.alter(3, (1, 4))
    c.alter(4, (1, 4, 3))
    assert c.assigned == ((2, 3, 4, 1), (4,), (1,))
    assert c.state.leader == 1

    c.alter(5, (1, 4, 3, 2))
    assert c.assigned == ((2, 3, 4), (), ())
    assert (c.state.leader, c.state.isr) == (2, (4, 3, 2))


def test_another_one_begins_with_all_that_are_there(kraft):
    """``testReassignPartitionsHandlesNewReassignmentThatRemovesPreviouslyAddingReplicas`` of Kafka's own tests."""
    kraft.reassign(1, 2, 3, 4)
    kraft.reassign(2, 1, 4, 3)

    assert kraft.assigned == ((1, 4, 3, 2), (4,), (2,))


def test_from_3_8_on_one_that_is_taken_back_ends_when_the_old_replicas_are_in_sync(four):
    c = four("kafka-4.0")
    c.reassign(1, 2, 3, 4)
    c.reassign(2, 1, 2, 3)

    assert c.assigned == ((1, 2, 3), (), ())
    assert c.stands == (1, 1, (1, 2, 3), 2)


def test_up_to_3_7_it_never_ends(four):
    """A list that would be empty is not written: what was to come still is, and is to go as well."""
    c = four("kafka-3.7")
    c.reassign(1, 2, 3, 4)
    c.reassign(2, 1, 2, 3)
    c.alter(3, FOUR)

    assert c.assigned == ((1, 2, 3, 4), (4,), (4,))


def test_where_nobody_of_those_in_sync_is_live_there_is_no_leader(four):
    c = four("kafka-3.7")
    c.alter(1, (1,))
    c.lapse(1_001 * MS, 2, 3)
    c.reassign(1_002 * MS, 1)
    c.lapse(2_100 * MS, 1)
    c.reassign(2_101 * MS, 2)

    assert c.assigned == ((2, 1), (2,), (1,))
    assert c.state.leader == -1


# ZooKeeper


@pytest.fixture
def zookeeper(four):
    return four("kafka-2.7")


def test_with_zookeeper_it_begins_in_a_new_leader_epoch(zookeeper):
    zookeeper.reassign(1, 2, 3, 4)

    assert zookeeper.elected == [(1, 1, (1, 2, 3), (), "reassigning", True, 1)]
    assert [told(zookeeper, broker) for broker in FOUR] == [[(1, 1, (1, 2, 3), (2, 3, 4, 1), False)]] * 4


def test_with_zookeeper_it_ends_in_two_rounds(zookeeper):
    zookeeper.reassign(1, 2, 3, 4)
    response = zookeeper.alter(2, FOUR)

    assert (response.error, response.isr) == (None, FOUR)
    assert zookeeper.elected == [
        (2, 2, FOUR, (), "reassigned", True, 3),
        (2, 3, (2, 3, 4), (), "shrunk", True, 4),
    ]
    assert told(zookeeper, 2) == [(2, 2, FOUR, (2, 3, 4), False), (2, 3, (2, 3, 4), (2, 3, 4), False)]


def test_who_is_to_go_is_asked_to_delete_when_it_is_out(zookeeper):
    zookeeper.reassign(1, 2, 3, 4)
    zookeeper.alter(2, FOUR)

    assert told(zookeeper, 1)[-1] == (2, 3, (2, 3, 4), (2, 3, 4), True)
    assert [state[-1] for broker in (2, 3, 4) for state in told(zookeeper, broker)] == [False] * 6


def test_nobody_asks_a_broker_that_is_away_and_nobody_does_later(zookeeper):
    zookeeper.reassign(1, 1, 2, 4)
    zookeeper.lapse(1_001 * MS, 3)
    zookeeper.alter(1_002 * MS, (1, 2, 4))
    assert zookeeper.assigned == ((1, 2, 4), (), ())
    assert told(zookeeper, 3) == []

    zookeeper.come(1_100 * MS, 3)
    assert [state[-2:] for state in told(zookeeper, 3)] == [((1, 2, 4), False)]


def test_it_waits_for_the_whole_target(zookeeper):
    zookeeper.alter(1, (1, 2))
    zookeeper.reassign(2, 2, 3, 4)
    zookeeper.alter(3, (1, 2, 4))
    assert zookeeper.assigned == ((2, 3, 4, 1), (4,), (1,))

    zookeeper.alter(4, (1, 2, 4, 3))
    assert zookeeper.assigned == ((2, 3, 4), (), ())


def test_with_zookeeper_a_broker_that_is_away_gets_no_replica(zookeeper):
    zookeeper.lapse(1_001 * MS, 4)
    zookeeper.reassign(1_002 * MS, 1, 2, 4)

    assert zookeeper.assigned == ((1, 2, 3), (), ())


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1"])
def test_up_to_2_3_there_is_no_other_before_it_has_ended(four, variant):
    c = four(variant)
    c.reassign(1, 2, 3, 4)
    c.reassign(2, 1, 2, 3)

    assert c.did == []
    assert c.assigned == ((2, 3, 4, 1), (4,), (1,))


def test_from_2_4_on_another_begins_with_the_replicas_before_all_of_them(zookeeper):
    zookeeper.reassign(1, 2, 3, 4)
    zookeeper.reassign(2, 4, 1, 3)

    assert zookeeper.assigned == ((4, 1, 3, 2), (4,), (2,))


def test_one_that_is_taken_back_ends_at_once_and_who_was_to_come_is_asked_to_delete(zookeeper):
    """In the leader epoch that it knows, which it takes for an old request (KIP-570)."""
    zookeeper.reassign(1, 2, 3, 4)
    zookeeper.reassign(2, 1, 2, 3)

    assert zookeeper.assigned == ((1, 2, 3), (), ())
    assert told(zookeeper, 4)[0] == (1, 1, (1, 2, 3), (1, 2, 3), True)
    assert zookeeper.elected == [(1, 2, (1, 2, 3), (), "reassigned", True, 2)]


def test_nobody_looks_whether_those_who_stay_have_what_is_committed(zookeeper):
    """KAFKA-14424: the only member of the ISR is told to delete its log."""
    zookeeper.alter(1, (1,))
    zookeeper.reassign(2, 2, 3, 4)
    zookeeper.alter(3, (1, 4))
    zookeeper.step(4, Elect(0, T, "forced", 4))
    zookeeper.lapse(1_001 * MS, 1)
    assert zookeeper.stands[::2] == (4, (4,))

    zookeeper.reassign(1_002 * MS, 1, 2, 3)
    assert zookeeper.assigned == ((1, 2, 3), (), ())
    assert zookeeper.stands[::2] == (-1, (4,))
    assert [state[-1] for state in told(zookeeper, 4)][-1] is True


def test_a_replica_to_come_that_was_away_is_told_anew_in_a_new_epoch(zookeeper):
    zookeeper.reassign(1, 1, 2, 4)
    zookeeper.lapse(1_001 * MS, 4)
    zookeeper.come(1_100 * MS, 4)

    assert [(leader, epoch, how) for leader, epoch, _, _, how, _, _ in zookeeper.elected] == [(1, 2, "reassigning")]
    assert told(zookeeper, 4)[-1] == (1, 2, (1, 2, 3), (1, 2, 4, 3), False)


def test_what_ended_while_there_was_no_controller_is_brought_to_its_end_by_the_next(four):
    """The leader writes the ISR to ZooKeeper meanwhile (up to 2.6)."""
    c = four("kafka-2.1")
    c.reassign(1, 2, 3, 4)
    c.step(2, ControllerFailed())
    c.alter(3, FOUR)
    assert c.assigned == ((2, 3, 4, 1), (4,), (1,))

    c.step(4, ControllerElected())
    assert c.assigned == ((2, 3, 4), (), ())
    assert (c.state.leader, c.state.isr) == (2, (2, 3, 4))


def test_a_leader_that_is_away_when_it_ends_gives_way_too(four):
    c = four("kafka-2.7", min_isr=1)
    c.reassign(1, 1, 2, 4)
    c.alter(2, (1, 2, 4))
    assert c.state.leader == 1

    c.reassign(3, 1, 3, 4)
    c.alter(4, (1, 4, 3))
    assert (c.state.leader, c.state.isr) == (1, (1, 4, 3))


# One that is taken back


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7", "kafka-4.0"])
def test_what_is_taken_back_leaves_the_replicas_that_there_were(four, variant):
    c = four(variant)
    c.reassign(1, 2, 3, 4)
    c.reassign(2)

    assert set(c.assigned[0]) == {1, 2, 3}
    assert c.assigned[1:] == ((), ())
    assert c.traced("ordered") == [((), True)]
    assert (c.state.leader, set(c.state.isr)) == (1, {1, 2, 3})


def test_with_kraft_who_was_added_leaves_the_isr_and_gives_way(four):
    c = four("kafka-4.0")
    c.reassign(1, 2, 3, 4)
    c.state.isr, c.state.leader = (1, 3, 4), 4
    epoch = c.state.leader_epoch
    c.reassign(2)

    assert (c.state.leader, c.state.isr, c.state.leader_epoch) == (3, (1, 3), epoch + 1)
    assert c.assigned == ((2, 3, 1), (), ())


def test_with_kraft_nothing_is_taken_back_that_would_leave_nobody_in_sync(four):
    for unclean in (False, True):
        c = four("kafka-4.0", min_isr=1, unclean_election=unclean)
        c.reassign(1, 2, 3, 4)
        c.state.isr, c.state.leader = (4,), 4
        epoch = c.state.leader_epoch
        c.reassign(2)
        assert bool(c.state.adding) != unclean
        assert (c.state.leader, c.state.isr) == ((2, (2,)) if unclean else (4, (4,)))
        assert c.state.leader_epoch == epoch + unclean


@pytest.mark.parametrize("repaired", [False, True])
def test_with_kraft_whom_the_replaced_order_had_added_stays_when_the_last_one_is_taken_back(controller, repaired):
    """The last order counts from the replicas there are (docs/findings/reassignment-replaced.md)."""
    c = controller("kafka-4.0+obey-last-order" if repaired else "kafka-4.0", brokers=(*FOUR, 5))
    c.reassign(1, 1, 2, 4)
    c.reassign(2, 1, 2, 5)
    c.reassign(3)

    assert set(c.assigned[0]) == ({1, 2, 3} if repaired else set(FOUR))
    assert c.assigned[1:] == ((), ())


def test_before_there_was_kip_455_none_is_taken_back(four):
    c = four("kafka-2.1")
    c.reassign(1, 2, 3, 4)

    assert c.controller.refuses(Reassign(0, T, ())) == "t-0 is being reassigned, and that must end first"


# Why one is refused is told in words


@pytest.mark.parametrize(
    ("variant", "replicas", "words"),
    [
        ("kafka-3.7", (1, 9), "there is no broker 9"),
        ("kafka-3.7", (1, 1), "a partition has at least one replica, and no broker has two of one partition"),
        ("kafka-2.1", (1, 2, 3), "t-0 is being reassigned, and that must end first"),
    ],
)
def test_a_refusal_says_why(four, variant, replicas, words):
    c = four(variant)
    c.reassign(1, 2, 3, 4)

    assert c.controller.refuses(Reassign(0, T, replicas)) == words
