"""What producers and consumers get from a leader (docs/protocol.md, "High watermark, ISR, acks")."""

import pytest

from tidemark.nodes.core.actions import Append
from tidemark.nodes.core.messages import ConsumeRequest, ConsumeResponse, ProduceRequest, ProduceResponse

T = "t-0"
MS = 1_000


# Producers


def test_acks_all_is_answered_when_the_high_watermark_reaches_the_batchs_end(leader):
    one = leader(isr=(1, 2))
    one.produced(1, 72, 73, correlation=9)
    assert one.sent(ProduceResponse) == []
    one.fetched_by(2, 2, 3, epoch=5)
    assert one.sent(ProduceResponse) == []

    one.fetched_by(3, 2, 4, epoch=5)
    assert one.sent(ProduceResponse, to=101) == [ProduceResponse(1, T, 9, 2)]


def test_acks_all_of_a_lone_isr_member_is_answered_at_once(leader):
    one = leader(isr=(1,), min_isr=1)

    assert [type(action).__name__ for action in one.produced(1, 72)] == ["Append", "tuple", "Send"]
    assert one.sent(ProduceResponse) == [ProduceResponse(1, T, 1, 2)]


def test_acks_1_is_answered_after_the_append(leader):
    one = leader()
    one.produced(1, 72, acks="1", correlation=9)

    assert one.sent() == [ProduceResponse(1, T, 9, 2)]
    assert one.replica.hw == 0


def test_acks_0_is_not_answered(leader):
    one = leader()
    one.produced(1, 72, acks="0")

    assert one.sent() == []
    assert one.records()[-1] == (5, 72)


def test_a_batch_is_appended_in_the_leaders_epoch(leader, batch):
    one = leader()
    one.produced(1, 72, 73)

    assert one.done(Append) == [Append(T, batch(2, 5, 72, 73))]


def duplicate(one, now, base, end, *, acks="all", correlation=9):
    """The same batch arrives again; the driver knows where it lies."""
    one.machine.out.clear()
    one.replica.leading.on_duplicate(now, ProduceRequest(101, T, (72,), acks, correlation), base, end)
    one.did = list(one.machine.out)


def test_a_duplicate_of_a_committed_batch_is_answered_at_once(leader):
    one = leader(isr=(1,), min_isr=1, replicas=(1,))
    one.produced(1, 72, correlation=8)
    duplicate(one, 2, 2, 3)

    assert one.sent(ProduceResponse) == [ProduceResponse(1, T, 9, 2, None)]


def test_a_duplicate_of_an_uncommitted_batch_waits_for_the_commit(leader):
    """KIP-98: the answer to the retry promises as much as the answer to the first try."""
    one = leader(isr=(1, 2), replicas=(1, 2))
    one.produced(1, 72, correlation=8)
    one.produced(1, 73, correlation=10)
    duplicate(one, 2, 2, 3)
    assert one.sent(ProduceResponse) == []

    one.fetched_by(3, 2, 3, 5)
    assert [(m.correlation, m.base_offset) for m in one.sent(ProduceResponse)] == [(8, 2), (9, 2)]
    one.fetched_by(4, 2, 4, 5)
    assert [(m.correlation, m.base_offset) for m in one.sent(ProduceResponse)] == [(10, 3)]


def test_a_duplicate_with_acks_1_does_not_wait(leader):
    one = leader(isr=(1, 2), replicas=(1, 2))
    one.produced(1, 72, acks="1", correlation=8)
    duplicate(one, 2, 2, 3, acks="1")

    assert one.sent(ProduceResponse) == [ProduceResponse(1, T, 9, 2, None)]


def test_under_min_isr_acks_all_is_refused_before_the_append(leader):
    one = leader(isr=(1,), min_isr=2)
    one.produced(1, 72)

    assert one.sent() == [ProduceResponse(1, T, 1, -1, "NOT_ENOUGH_REPLICAS")]
    assert one.done(Append) == []


@pytest.mark.parametrize("acks", ["1", "0"])
def test_under_min_isr_other_acks_are_taken(leader, acks):
    one = leader(isr=(1,), min_isr=2)
    one.produced(1, 72, acks=acks)

    assert len(one.done(Append)) == 1


def test_a_pending_expansion_does_not_count_for_the_refusal(leader):
    one = leader(isr=(1,), min_isr=2)
    one.fetched_by(1, 2, 2, epoch=5)
    assert one.replica.leading.maximal == (1, 2)

    one.produced(2, 72)
    assert [m.error for m in one.sent(ProduceResponse)] == ["NOT_ENOUGH_REPLICAS"]


def test_an_isr_that_shrank_under_min_isr_after_the_append_is_reported(leader):
    one = leader(isr=(1, 2), min_isr=2)
    one.produced(1, 72)
    one.lead(2, 6, (1,))

    assert one.sent(ProduceResponse) == [ProduceResponse(1, T, 1, 2, "NOT_ENOUGH_REPLICAS_AFTER_APPEND")]


def test_a_batch_that_is_not_committed_in_time_is_timed_out_and_stays(leader):
    one = leader()
    one.produced(1, 72)
    one.tick(1_500 * MS)
    assert one.sent(ProduceResponse) == []

    one.tick(1_500 * MS + 1)
    assert [(m.correlation, m.error) for m in one.sent(ProduceResponse, to=101)] == [(1, "REQUEST_TIMED_OUT")]
    assert one.records()[-1] == (5, 72)


def test_a_deposed_leader_does_not_know_what_becomes_of_its_batches(leader):
    one = leader()
    one.produced(1, 72)
    one.told(2, 2, 6)

    assert [(m.correlation, m.error) for m in one.sent(ProduceResponse)] == [(1, "REQUEST_TIMED_OUT")]


# Consumers


def test_a_consumer_reads_below_the_high_watermark(leader):
    one = leader(hw=1)
    one.step(1, ConsumeRequest(201, T, 0, 9))

    assert one.sent(to=201) == [ConsumeResponse(1, T, 9, [(0, 70)], 1)]


def test_a_consumer_gets_the_records_of_half_a_batch(leader, batch):
    one = leader(batches=[batch(0, 4, 70, 71, 72)], hw=2)
    one.step(1, ConsumeRequest(201, T, 1, 9))

    assert one.sent() == [ConsumeResponse(1, T, 9, [(1, 71)], 2)]


@pytest.mark.parametrize(("offset", "error"), [(1, None), (2, None), (3, "OFFSET_OUT_OF_RANGE")])
def test_a_consumer_may_wait_between_high_watermark_and_log_end_but_not_beyond(leader, offset, error):
    one = leader(hw=1)
    one.step(1, ConsumeRequest(201, T, offset, 9))

    assert one.sent() == [ConsumeResponse(1, T, 9, [], 1, error)]
