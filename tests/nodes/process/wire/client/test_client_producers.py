"""Idempotent producers: a batch is in the log once, whatever is sent twice, and whoever leads."""

import pytest
from kio.schema.errors import ErrorCode

from tidemark.nodes.formats.record_batch import build

LAST = 2**31 - 1


def batch(sequence, count=1, pid=77, epoch=0):
    return build(range(count), producer_id=pid, producer_epoch=epoch, base_sequence=sequence)


def result(request):
    part = request.answer.responses[0].partition_responses[0]
    return part.error_code, part.base_offset


@pytest.fixture
def leader(node):
    broker = node()
    broker.lead()
    return broker


def send(broker, *args, acks=1, **kwargs):
    return result(broker.produce(batch(*args, **kwargs), acks=acks))


def test_batches_in_sequence_are_appended(leader):
    assert [send(leader, 0, 3), send(leader, 3, 2), send(leader, 5)] == [(0, 0), (0, 3), (0, 5)]
    assert leader.replica().log.leo == 6


def test_a_repeated_batch_gets_its_first_offset(leader):
    for sequence in range(5):
        send(leader, sequence)

    assert [send(leader, sequence) for sequence in range(5)] == [(ErrorCode.none, sequence) for sequence in range(5)]
    assert leader.replica().log.leo == 5


def test_a_repeated_batch_that_is_not_committed_is_answered_when_it_is(leader):
    first = leader.produce(batch(0))
    again = leader.produce(batch(0))
    assert (first.answered, again.answered) == (False, False)
    leader.commit()

    assert (result(first), result(again)) == ((ErrorCode.none, 0), (ErrorCode.none, 0))
    assert leader.replica().log.leo == 1


def test_a_repeated_batch_that_is_committed_is_answered_at_once(leader):
    leader.produce(batch(0))
    leader.commit()

    assert result(leader.produce(batch(0))) == (ErrorCode.none, 0)


def test_further_back_than_five_batches_only_the_fact_is_known(leader):
    for sequence in range(6):
        send(leader, sequence)

    assert send(leader, 0) == (ErrorCode.duplicate_sequence_number, -1)
    assert send(leader, 1) == (ErrorCode.none, 1)


def test_a_gap_is_refused(leader):
    send(leader, 0)

    assert send(leader, 2) == (ErrorCode.out_of_order_sequence_number, -1)
    assert leader.replica().log.leo == 1


def test_a_batch_cut_otherwise_is_no_duplicate(leader):
    """Sequence 1 to 2 was never a batch: 1 is the end of one, 2 the beginning of another."""
    send(leader, 0, 2)
    send(leader, 2, 2)

    assert send(leader, 3, 2) == (ErrorCode.out_of_order_sequence_number, -1)
    assert send(leader, 1, 2) == (ErrorCode.duplicate_sequence_number, -1)


def test_what_came_before_an_unknown_producers_first_batch_is_not_called_a_duplicate(leader):
    """Nobody may take records for written that this log does not hold."""
    assert send(leader, 40) == (ErrorCode.none, 0)

    assert send(leader, 39) == (ErrorCode.out_of_order_sequence_number, -1)


def test_sequence_numbers_begin_again_after_the_last(leader):
    assert send(leader, LAST - 1) == (ErrorCode.none, 0)
    assert send(leader, LAST, 3) == (ErrorCode.none, 1)
    assert send(leader, 2) == (ErrorCode.none, 4)
    assert send(leader, LAST, 3) == (ErrorCode.none, 1)
    assert send(leader, 4) == (ErrorCode.out_of_order_sequence_number, -1)


def test_producers_do_not_meet(leader):
    send(leader, 0)

    assert send(leader, 0, pid=78) == (ErrorCode.none, 1)


def test_a_newer_epoch_begins_at_zero_and_fences_the_older(leader):
    send(leader, 0)

    assert send(leader, 1, epoch=1) == (ErrorCode.out_of_order_sequence_number, -1)
    assert send(leader, 0, epoch=1) == (ErrorCode.none, 1)
    assert send(leader, 1, epoch=0) == (ErrorCode.invalid_producer_epoch, -1)
    assert send(leader, 1, epoch=1) == (ErrorCode.none, 2)


def test_too_small_an_isr_is_said_before_a_gap(node):
    broker = node()
    broker.lead(isr=(1,))

    assert result(broker.produce(batch(5))) == (ErrorCode.not_enough_replicas, -1)
    broker.lead(1)
    assert not broker.produce(batch(0)).answered


def test_a_follower_knows_what_it_replicated(node):
    broker = node()
    broker.told(2, 0)
    broker.appended_by_leader([1, 2], producer_id=77, producer_epoch=0, base_sequence=0)
    broker.lead(1)

    assert send(broker, 0, 2) == (ErrorCode.none, 0)
    assert send(broker, 3) == (ErrorCode.out_of_order_sequence_number, -1)
    assert send(broker, 2) == (ErrorCode.none, 2)


def test_what_was_cut_off_is_forgotten(node):
    broker = node("kafka-0.10")
    broker.lead()
    send(broker, 0)
    broker.commit()
    send(broker, 1)
    assert send(broker, 1) == (ErrorCode.none, 1)
    broker.told(2, 1)
    assert broker.replica().log.leo == 1
    broker.lead(2)

    assert send(broker, 2) == (ErrorCode.out_of_order_sequence_number, -1)
    assert send(broker, 1) == (ErrorCode.none, 1)


def test_a_cut_log_that_has_grown_again_is_read_anew(node):
    """After the cut the log is as long as before, with another producer's batch."""
    broker = node("kafka-0.10")
    broker.lead()
    send(broker, 0)
    broker.commit()
    send(broker, 1)
    broker.told(2, 1)
    broker.appended_by_leader([9], producer_id=78, producer_epoch=0, base_sequence=0)
    broker.lead(2)
    assert broker.replica().log.leo == 2

    assert send(broker, 0, pid=78) == (ErrorCode.none, 1)
    assert send(broker, 1) == (ErrorCode.none, 2)


def test_everything_gone_any_sequence_goes(node):
    """A log that was lost whole knows no producers; they go on where they are."""
    broker = node()
    broker.lead()

    assert send(broker, 1_234) == (ErrorCode.none, 0)
