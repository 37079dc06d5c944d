"""When a leader's high watermark moves (docs/protocol.md, "High watermark, ISR, acks")."""

import pytest

MS = 1_000


def test_the_high_watermark_waits_for_every_isr_member(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    assert one.traced("hw") == []

    one.fetched_by(2, 3, 1, epoch=5)
    assert one.traced("hw") == [(1, 5, True)]

    one.fetched_by(3, 3, 2, epoch=5)
    assert one.traced("hw") == [(2, 5, True)]


def test_it_does_not_go_back_within_a_term(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.fetched_by(2, 3, 2, epoch=5)
    one.fetched_by(3, 3, 0, epoch=5)

    assert one.replica.hw == 2


def test_a_replica_outside_the_isr_does_not_hold_it_up(leader):
    one = leader(isr=(1, 2))
    one.fetched_by(1, 2, 2, epoch=5)

    assert one.replica.hw == 2


def test_a_joining_replica_holds_it_up_from_the_proposal_on(leader):
    """The maximal ISR."""
    one = leader(isr=(1, 2))
    one.fetched_by(1, 3, 2, epoch=5)
    one.produced(2, 72)
    one.fetched_by(3, 2, 3, epoch=5)
    assert one.replica.hw == 2

    one.fetched_by(4, 3, 3, epoch=5)
    assert one.replica.hw == 3


def test_it_does_so_however_long_the_proposal_takes(leader):
    """Caught up or not: the controller may have committed it, and the answer may be lost."""
    one = leader(isr=(1, 2))
    one.fetched_by(1, 3, 2, epoch=5)
    one.produced(2, 72)
    one.fetched_by(3, 2, 3, epoch=5)
    for now in range(100 * MS, 5_000 * MS, 100 * MS):
        one.tick(now)

    assert one.replica.leading.maximal == (1, 2, 3)
    assert one.replica.hw == 2


def test_a_caught_up_replica_outside_the_maximal_isr_holds_it_up_while_it_is_caught_up(leader):
    one = leader(isr=(1, 2), replicas=(1, 2, 3, 4))
    one.fetched_by(1, 3, 2, epoch=5)
    one.fetched_by(2, 4, 2, epoch=5)
    one.produced(3, 72)
    one.fetched_by(4, 2, 3, epoch=5)
    one.fetched_by(5, 3, 3, epoch=5)
    assert one.replica.leading.maximal == (1, 2, 3)
    assert one.replica.hw == 2

    one.tick(2 + 1_500 * MS)
    assert one.replica.hw == 2
    one.tick(3 + 1_500 * MS)
    assert one.replica.hw == 3


@pytest.mark.parametrize(("variant", "hw"), [("kafka-2.7", 2), ("kafka-3.7", 3)])
def test_from_3_7_a_caught_up_replica_that_may_not_join_does_not_hold_it_up(leader, variant, hw):
    """KIP-841: broker 4 is fenced or shutting down, so it will not be in the ISR."""
    one = leader(variant, isr=(1, 2), replicas=(1, 2, 3, 4))
    one.fetched_by(1, 3, 2, epoch=5)
    one.fetched_by(2, 4, 2, epoch=5)
    one.produced(3, 72)
    one.told(4, 1, 5, (1, 2, 3), replicas=(1, 2, 3, 4), eligible=(1, 2, 3))
    one.fetched_by(5, 2, 3, epoch=5)
    one.fetched_by(6, 3, 3, epoch=5)

    assert one.replica.hw == hw


@pytest.mark.parametrize(("variant", "hw"), [("kafka-2.7", 2), ("kafka-2.7+min-isr-gate", 0), ("kafka-3.7", 0)])
def test_from_3_7_it_stands_still_under_min_isr(leader, variant, hw):
    """KAFKA-15583."""
    one = leader(variant, isr=(1,), min_isr=2)

    assert one.replica.hw == hw


def test_min_isr_counts_the_committed_isr_not_the_maximal(leader):
    one = leader("kafka-3.7", isr=(1,), min_isr=2)
    one.fetched_by(1, 2, 2, epoch=5)
    assert one.replica.leading.maximal == (1, 2)
    assert one.replica.hw == 0

    one.isr_answered(2, (1, 2), 1)
    assert one.replica.hw == 2


@pytest.mark.parametrize(("variant", "epoch"), [("kafka-2.7", 6), ("kafka-3.7", 5)])
def test_it_moves_when_the_controller_has_shrunk_the_isr(leader, variant, epoch):
    """KAFKA-13091: without this the acknowledgements of the shrunk ISR would wait for a fetch."""
    one = leader(variant, min_isr=1)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, epoch, (1, 2))

    assert one.traced("hw") == [(2, epoch, True)]


def test_it_stays_while_a_shrink_is_pending(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(1_501 * MS)
    assert one.proposed() == [(1, 2)]
    assert one.replica.leading.maximal == (1, 2, 3)
    assert one.replica.hw == 0

    one.isr_answered(1_502 * MS, (1, 2), 1)
    assert one.traced("isr") == [((1, 2), (1, 2), 1)]
    assert one.replica.hw == 2


def test_with_kafka_13091_it_waits_for_a_write_after_the_answer(leader):
    one = leader("kafka-2.7+KAFKA-13091")
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(1_501 * MS)
    one.isr_answered(1_502 * MS, (1, 2), 1)
    assert one.traced("isr") == [((1, 2), (1, 2), 1)]
    assert one.replica.hw == 0

    one.fetched_by(1_503 * MS, 2, 2, epoch=5)
    one.tick(1_900 * MS)
    assert one.replica.hw == 0
    one.produced(1_901 * MS, 9)
    assert one.replica.hw == 2
