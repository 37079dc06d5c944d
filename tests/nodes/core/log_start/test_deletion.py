"""A client deletes records, and whoever reads gets only what lies above."""

import pytest
from at_a_log_start import delete, deletions, log

from tidemark.nodes.core.actions import DropBefore, WriteEpochs
from tidemark.nodes.core.messages import ConsumeRequest, ConsumeResponse

T = "t-0"
MS = 1_000


# A client deletes


def test_the_log_start_moves_and_the_batches_stay(leader):
    one = leader()
    delete(one, 1, 2)

    assert one.traced("log-start") == [(2, 0, "delete-records")]
    assert log(one) == (2, 5, [0, 3])
    assert one.done(DropBefore) == []


def test_the_epochs_below_go_with_the_records(leader):
    one = leader()
    delete(one, 1, 4)

    assert one.done(WriteEpochs) == [WriteEpochs(T, ((2, 4), (5, 5)))]


def test_minus_one_is_the_high_watermark(leader):
    one = leader(hw=3)
    delete(one, 1, -1)

    assert log(one)[0] == 3


@pytest.mark.parametrize("offset", [4, -2])
def test_beyond_the_high_watermark_nothing_is_deleted(leader, offset):
    one = leader(hw=3)
    delete(one, 1, offset)

    assert deletions(one) == [(-1, "OFFSET_OUT_OF_RANGE")]
    assert one.traced("log-start") == []


def test_a_log_start_never_moves_back(leader):
    one = leader()
    delete(one, 1, 4)
    delete(one, 2, 1)

    assert one.traced("log-start") == []
    assert log(one)[0] == 4


def test_it_is_answered_when_all_live_replicas_have_followed(leader):
    one = leader()
    delete(one, 1, 4)
    assert deletions(one) == []

    one.fetched_by(2, 2, 5, 5, last=5, start=4)
    assert deletions(one) == []

    one.fetched_by(3, 3, 5, 5, last=5, start=4)
    assert deletions(one) == [(4, None)]


def test_a_replica_that_is_not_live_is_not_waited_for(leader):
    one = leader()
    one.lead(1, 6, isr=(1, 2), eligible=(1, 2))
    delete(one, 2, 4)
    one.fetched_by(3, 2, 5, 6, last=6, start=4)

    assert deletions(one) == [(4, None)]


def test_what_is_deleted_already_is_answered_at_once(leader):
    one = leader()
    one.fetched_by(1, 2, 5, 5, last=5, start=4)
    one.fetched_by(2, 3, 5, 5, last=5, start=4)
    delete(one, 3, 4)

    assert deletions(one) == [(4, None)]


def test_a_deletion_that_nobody_follows_times_out(leader):
    one = leader()
    delete(one, 0, 4)
    one.tick(1_499 * MS)
    assert deletions(one) == []

    one.tick(1_500 * MS)
    assert deletions(one) == [(-1, "REQUEST_TIMED_OUT")]
    one.tick(1_600 * MS)
    assert deletions(one) == []


def test_a_leader_that_is_deposed_says_so_though_it_has_deleted(leader):
    one = leader()
    delete(one, 1, 4)
    one.told(2, 2, 6)

    assert deletions(one) == [(-1, "NOT_LEADER_OR_FOLLOWER")]
    assert log(one)[0] == 4


def test_a_follower_deletes_for_nobody(follower):
    two = follower()
    delete(two, 1, 1)

    assert deletions(two) == [(-1, "NOT_LEADER_OR_FOLLOWER")]
    assert two.replica.log.start == 0


def test_a_broker_without_the_partition_deletes_nothing(broker):
    one = broker()
    delete(one, 1, 1)

    assert deletions(one) == [(-1, "NOT_LEADER_OR_FOLLOWER")]


def test_before_kip_107_nobody_can_ask(leader):
    one = leader("kafka-0.10")
    delete(one, 1, 2)

    assert deletions(one) == [(-1, "UNSUPPORTED_VERSION")]
    assert log(one)[0] == 0


# Consumers


@pytest.mark.parametrize(("offset", "error", "values"), [(2, "OFFSET_OUT_OF_RANGE", []), (3, None, [73, 74])])
def test_a_consumer_reads_from_the_log_start_on(leader, offset, error, values):
    one = leader()
    delete(one, 1, 3)
    one.step(2, ConsumeRequest(200, T, offset, 1))

    (answer,) = one.sent(ConsumeResponse)
    assert (answer.error, [value for _, value in answer.records], answer.start) == (error, values, 3)


def test_a_consumer_gets_only_what_lies_above_in_a_batch_that_reaches_across(leader):
    one = leader()
    delete(one, 1, 4)
    one.step(2, ConsumeRequest(200, T, 4, 1))

    assert [m.records for m in one.sent(ConsumeResponse)] == [[(4, 74)]]
