"""Up to 2.6 a leader writes the ISR to ZooKeeper itself (``Partition.expandIsr``, 2.1; docs/protocol.md)."""

import pytest

from tidemark.nodes.core.messages import AlterPartition, ProduceResponse

MS = 1_000


@pytest.fixture(scope="session", params=["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"])
def writer(leader, request):
    """Broker 1 leads epoch 5 with two records; 2 has them and is not in the ISR, 3 has fetched nothing."""

    def start(isr=(1, 3), **settings):
        return leader(request.param, isr, **settings)

    return start


def test_it_writes_the_isr_and_says_nothing_of_it_before_it_is_written(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)

    assert one.proposed() == [(1, 3, 2)]
    assert one.traced("isr") == []
    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3)


def test_what_is_written_holds(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    one.isr_answered(1, (1, 3, 2), 1)

    assert one.traced("isr") == [((1, 3, 2), (1, 3, 2), 1)]
    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.partition_epoch == 1


def test_meanwhile_the_high_watermark_stands_still(writer):
    """The write is made under the lock (``leaderIsrUpdateLock``) that a fetch takes to move it."""
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    one.fetched_by(1, 3, 2, epoch=5)
    assert one.replica.hw == 0

    one.isr_answered(2, (1, 3, 2), 1)
    assert one.traced("hw") == [(2, 5, True)]


def test_and_producers_wait(writer):
    one = writer()
    one.produced(0, 72)
    one.fetched_by(1, 2, 3, epoch=5)
    one.fetched_by(2, 3, 3, epoch=5)
    one.tick(100 * MS)
    assert one.sent(ProduceResponse) == []

    one.isr_answered(101 * MS, (1, 3, 2), 1)
    assert [m.error for m in one.sent(ProduceResponse)] == [None]


def test_a_new_member_is_waited_for_from_then_on(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    one.produced(1, 72)
    one.isr_answered(2, (1, 3, 2), 1)
    one.fetched_by(3, 3, 3, epoch=5)
    assert one.replica.hw == 2

    one.fetched_by(4, 2, 3, epoch=5)
    assert one.replica.hw == 3


def test_an_isr_that_shrinks_is_written_too(writer):
    one = writer(isr=(1, 2, 3))
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(1_501 * MS)
    assert one.proposed() == [(1, 2)]
    assert one.replica.hw == 0

    one.isr_answered(1_502 * MS, (1, 2), 1)
    assert one.replica.hw == 2


def test_a_write_that_is_not_answered_is_repeated(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    (write,) = one.sent(AlterPartition)
    one.tick(499 * MS)
    assert one.sent(AlterPartition) == []

    one.tick(500 * MS)
    assert one.sent(AlterPartition) == [write]


def test_with_a_stale_version_it_goes_on_with_the_isr_it_knows(writer):
    """KAFKA-2729: "Cached zkVersion not equal to that in zookeeper, skip updating ISR"."""
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    one.fetched_by(1, 3, 2, epoch=5)
    one.isr_answered(2, (1,), 7, "INVALID_UPDATE_VERSION", epoch=6)

    assert one.replica.leading.isr == (1, 3)
    assert one.replica.partition_epoch == 0
    assert one.traced("hw") == [(2, 5, True)]


def test_and_tries_again_in_vain_whenever_there_is_reason_to(writer):
    one = writer()
    for number in range(3):
        one.fetched_by(2 * number, 2, 2, epoch=5)
        assert [(m.partition_epoch, m.leader_epoch) for m in one.sent(AlterPartition)] == [(0, 5)]
        one.isr_answered(2 * number + 1, (1,), 7, "INVALID_UPDATE_VERSION", epoch=6)
        assert one.sent(AlterPartition) == []


def test_until_it_is_elected_again(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    one.isr_answered(1, (1,), 7, "INVALID_UPDATE_VERSION", epoch=6)
    one.lead(2, 6, (1, 3), version=7)
    one.fetched_by(3, 2, 2, epoch=6)

    assert [(m.partition_epoch, m.leader_epoch) for m in one.sent(AlterPartition)] == [(7, 6)]


@pytest.mark.parametrize("error", [None, "INVALID_UPDATE_VERSION"])
def test_an_answer_to_another_write_is_ignored(writer, error):
    """It was deposed and elected again since."""
    one = writer(hw=2)
    one.fetched_by(0, 2, 2, epoch=5)
    late = one.replica.leading.pending.correlation
    one.told(1, 2, 6)
    one.lead(2, 7, (1, 3))
    one.fetched_by(3, 2, 2, epoch=7)
    one.isr_answered(4, (1, 2, 3), 9, error, epoch=7, correlation=late)

    assert one.did == []
    assert one.replica.leading.isr == (1, 3)
    assert one.replica.leading.pending is not None


def test_an_answer_when_nothing_is_under_way_is_ignored(writer):
    one = writer()
    one.fetched_by(0, 2, 2, epoch=5)
    number = one.replica.leading.pending.correlation
    one.isr_answered(1, (1, 3, 2), 1)
    one.isr_answered(2, (1,), 2, correlation=number)

    assert one.replica.leading.isr == (1, 3, 2)


def test_from_2_7_on_it_asks_the_controller(leader):
    """KIP-497: the high watermark moves on if old and new members have it."""
    one = leader("kafka-2.7", (1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    assert one.replica.leading.maximal == (1, 3, 2)

    one.fetched_by(1, 3, 2, epoch=5)
    assert one.traced("hw") == [(2, 5, True)]
