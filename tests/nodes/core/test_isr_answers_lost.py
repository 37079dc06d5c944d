"""Bugs put back that need an answer of the controller lost or late: KAFKA-1382, KAFKA-14144, KAFKA-12686."""

import pytest

from tidemark.nodes.core.messages import AlterPartition, AlterPartitionResponse

T = "t-0"
MS = 1_000


@pytest.mark.parametrize(
    ("variant", "error"),
    [
        ("kafka-2.1", None),
        ("kafka-2.1+KAFKA-1382", "INVALID_UPDATE_VERSION"),
        ("kafka-2.1+KAFKA-14144", None),
        ("kafka-2.7", None),
        ("kafka-2.7+KAFKA-14144", "INVALID_UPDATE_VERSION"),
        ("kafka-2.7+KAFKA-1382", None),
    ],
)
def test_what_was_committed_and_not_heard_is_refused_when_it_is_asked_for_again(controller, variant, error):
    """KAFKA-1382 of a leader that writes to ZooKeeper itself, KAFKA-14144 of one that asks the controller."""
    c = controller(variant)
    c.alter(1, (1, 2))

    assert c.alter(2, (1, 2), partition_epoch=0).error == error
    assert c.state.isr == (1, 2)


def test_with_kafka_1382_a_leader_goes_on_with_the_isr_that_it_knew(leader):
    one = leader("kafka-2.1+KAFKA-1382", isr=(1,), min_isr=1)
    one.fetched_by(1, 2, 2, epoch=5)
    one.isr_answered(600 * MS, (1, 2), 1, "INVALID_UPDATE_VERSION")

    assert one.replica.leading.isr == (1,)
    assert one.replica.partition_epoch == 0


def in_flight(leader, variant):
    """Broker 1 asks for 2 in its ISR, hears of leader epoch 6 before the answer, and 2 catches up again; the two numbers."""
    one = leader(variant, isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=5)
    first = one.replica.leading.pending.correlation
    one.lead(2, 6, (1, 3))
    one.fetched_by(3, 3, 2, epoch=6)
    one.fetched_by(4, 2, 2, epoch=6)
    return one, first


def answered(one, now, correlation, epoch):
    return one.step(now, AlterPartitionResponse(0, T, correlation, epoch, (1, 3), 0, "FENCED_LEADER_EPOCH"))


def test_a_leader_asks_anew_in_a_new_leader_epoch(leader):
    one, first = in_flight(leader, "kafka-2.7")

    assert one.proposed() == [(1, 3, 2)]
    assert one.replica.leading.pending.correlation > first
    answered(one, 5, first, 5)
    one.tick(1_000 * MS)
    assert one.proposed() == [(1, 3, 2)]


def test_with_kafka_12686_the_next_change_waits_and_is_forgotten(leader):
    one, first = in_flight(leader, "kafka-2.7+KAFKA-12686")
    assert one.sent(AlterPartition) == []
    assert one.replica.leading.pending is not None

    answered(one, 5, first, 5)
    for now in (1_000, 3_000, 9_000):
        one.tick(now * MS)
        assert one.sent(AlterPartition) == []
    assert one.replica.leading.pending is not None


def test_and_until_a_newer_leader_epoch_only(leader):
    one, first = in_flight(leader, "kafka-2.7+KAFKA-12686")
    answered(one, 5, first, 5)
    one.lead(6, 7, (1, 3))
    one.fetched_by(7, 3, 2, epoch=7)
    one.fetched_by(8, 2, 2, epoch=7)

    assert one.proposed() == [(1, 3, 2)]


def test_without_a_newer_leader_epoch_it_asks_again_as_ever(leader):
    one = leader("kafka-2.7+KAFKA-12686", isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(600 * MS)

    assert one.proposed() == [(1, 3, 2)]
