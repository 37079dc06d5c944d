"""A leader, message by message: fetches, fences, high watermark, acknowledgements, ISR (docs/protocol.md)."""

import pytest

from nodes.core.actions import Append, WriteEpochs
from nodes.core.broker import PUBLISH
from nodes.core.messages import (
    FENCED_LEADER_EPOCH,
    AlterPartition,
    AlterPartitionResponse,
    ConsumeRequest,
    ConsumeResponse,
    EpochRequest,
    EpochResponse,
    FetchResponse,
    LeaderAndIsr,
    ProduceRequest,
    ProduceResponse,
)

T = "t-0"
MS = 1_000


@pytest.fixture(scope="session")
def leader(broker, batch):
    """Broker 1 leads epoch 5 with two records of epoch 4 (HW 0 unless told), followed by 2 and 3."""

    def start(variant="kafka-2.7", isr=(1, 2, 3), *, hw=0, replicas=(1, 2, 3), batches=None, **settings):
        batches = [batch(0, 4, 70), batch(1, 4, 71)] if batches is None else batches
        one = broker(variant, node=1, batches=batches, hw=hw, **settings)
        one.lead(0, 5, isr, replicas=replicas)
        return one

    return start


def answer(one):
    """The one fetch response of the last step."""
    (response,) = one.sent(FetchResponse)
    return response


# Becoming leader


def test_a_new_leader_assigns_its_epoch_at_its_log_end(leader):
    one = leader()

    assert one.replica.cache.entries() == ((4, 0), (5, 2))
    assert WriteEpochs(T, ((4, 0), (5, 2))) in one.did


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.1+KAFKA-7415"])
def test_before_kafka_7415_it_does_so_at_its_first_append(leader, variant):
    one = leader(variant)
    assert one.replica.cache.entries() == ((4, 0),)

    one.produced(1, 72)
    assert one.replica.cache.entries() == ((4, 0), (5, 2))


def test_0_10_keeps_no_epochs(leader):
    one = leader("kafka-0.10")
    one.produced(1, 72)

    assert one.replica.cache.entries() == ()
    assert one.done(WriteEpochs) == []


def test_a_new_leader_keeps_its_high_watermark(leader):
    one = leader(hw=1)

    assert one.traced("lead") == [(5, 2, 1, (1, 2, 3))]
    assert one.traced("hw") == []


def test_a_lone_isr_member_commits_its_log_on_becoming_leader(leader):
    one = leader(isr=(1,), min_isr=1)

    assert one.traced("hw") == [(2, 5, True)]


# High watermark


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


@pytest.mark.parametrize(("variant", "epoch"), [("kafka-2.7", 6), ("kafka-3.7", 6), ("kafka-3.7", 7)])
def test_who_is_elected_while_it_leads_goes_on_with_the_log_ends_it_knows(leader, variant, epoch):
    """Replica.resetReplicaState(isNewLeader = false): broker 2 may have cut its log in a reign that this leader missed."""
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, epoch, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=epoch)

    assert one.replica.hw == 2


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7+forget-log-ends"])
def test_who_heard_of_the_reign_between_or_forgets_waits_until_all_fetch_in_the_new_epoch(leader, variant):
    """ZooKeeper's controller repeats its requests in order, so a gap in the epochs means that it would have followed between."""
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 7, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=7)
    assert one.replica.hw == 0

    one.fetched_by(4, 2, 2, epoch=7)
    assert one.replica.hw == 2


def test_who_followed_between_knows_no_log_ends(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.told(2, 2, 6)
    one.lead(3, 7, (1, 2, 3))
    one.fetched_by(4, 3, 2, epoch=7)

    assert one.replica.hw == 0


def test_a_producer_waits_on_when_its_leader_leads_on(leader):
    one = leader()
    one.produced(1, 7)
    one.lead(2, 6, (1, 2, 3))
    assert one.sent(ProduceResponse) == []

    one.fetched_by(3, 2, 3, epoch=6)
    one.fetched_by(4, 3, 3, epoch=6)
    assert [answer.error for answer in one.sent(ProduceResponse)] == [None]


@pytest.mark.parametrize(("variant", "error"), [("kafka-2.0", None), ("kafka-2.1", FENCED_LEADER_EPOCH)])
def test_a_fetch_of_the_last_epoch_that_waits_is_fenced_where_there_are_fences(leader, variant, error):
    one = leader(variant)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 6, (1, 2, 3))

    assert [answer.error for answer in one.sent(FetchResponse)] == ([error] if error else [])


def test_a_broker_that_reads_a_metadata_log_acts_on_the_last_state_only(leader):
    one = leader("kafka-3.7")
    for version, (at, led, epoch) in enumerate([(1, 2, 6), (2, 1, 7)], start=20):
        one.step(at, LeaderAndIsr(0, T, led, epoch, (1, 2, 3), version, (1, 2, 3), 11, (1, 2, 3)))
        assert one.did == ([PUBLISH] if at == 1 else [])
    assert one.replica.leader_epoch == 5

    one.step(3, PUBLISH.event)
    assert [(one.replica.leader_epoch, one.replica.leader)] == [(7, 1)]
    assert one.traced("follow") == []
    assert [fields[0] for fields in one.traced("lead")] == [7]


def test_the_same_epoch_again_forgets_nothing(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 5, (1, 2, 3))
    one.fetched_by(3, 3, 2, epoch=5)

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

    one.step(2, AlterPartitionResponse(0, T, 1, 5, (1, 2), 1))
    assert one.replica.hw == 2


def test_it_moves_when_an_isr_change_is_committed(leader):
    """KAFKA-13091: without this the acknowledgements of the shrunk ISR would wait for a fetch."""
    one = leader(min_isr=1)
    one.fetched_by(1, 2, 2, epoch=5)
    one.lead(2, 5, (1, 2))

    assert one.traced("hw") == [(2, 5, True)]


def test_it_stays_while_a_shrink_is_pending(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(1_501 * MS)
    assert [[b for b, _ in m.isr] for m in one.sent(AlterPartition)] == [[1, 2]]
    assert one.replica.leading.maximal == (1, 2, 3)
    assert one.replica.hw == 0

    one.step(1_502 * MS, AlterPartitionResponse(0, T, 1, 5, (1, 2), 1))
    assert one.traced("isr") == [((1, 2), (1, 2), 1)]
    assert one.replica.hw == 2


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
    one.lead(2, 5, (1,))

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


# Fetches


def test_a_fetch_gets_what_is_there(leader, batch):
    one = leader(hw=1)
    one.fetched_by(1, 2, 1, epoch=5, correlation=9)

    assert one.sent(to=2) == [FetchResponse(1, T, 9, [batch(1, 4, 71)], 1, 2)]


def test_a_fetch_gets_at_most_so_many_batches(leader, batch):
    one = leader(max_fetch_batches=1)

    one.fetched_by(1, 2, 0, epoch=5)
    assert answer(one).batches == [batch(0, 4, 70)]


def test_a_fetch_at_the_log_end_waits_for_an_append(leader, batch):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5, correlation=9)
    assert one.sent() == []

    one.produced(2, 72)
    assert one.sent(FetchResponse, to=2) == [FetchResponse(1, T, 9, [batch(2, 5, 72)], 0, 3)]
    one.produced(3, 73)
    assert one.sent(FetchResponse) == []


def test_a_fetch_at_the_log_end_is_answered_empty_after_a_while(leader):
    one = leader()
    one.fetched_by(0, 2, 2, epoch=5, correlation=9)
    one.tick(249 * MS)
    assert one.sent(FetchResponse) == []

    one.tick(250 * MS)
    assert one.sent(FetchResponse) == [FetchResponse(1, T, 9, [], 0, 2)]


def test_a_waiting_fetch_learns_of_the_end_of_the_term(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5, correlation=9)
    one.told(2, 3, 6)

    assert [(m.correlation, m.error) for m in one.sent(FetchResponse, to=2)] == [(9, "NOT_LEADER_OR_FOLLOWER")]


def test_only_the_latest_fetch_of_a_follower_waits(leader):
    one = leader()
    one.fetched_by(1, 2, 2, epoch=5, correlation=8)
    one.fetched_by(2, 2, 2, epoch=5, correlation=9)
    one.produced(3, 72)

    assert [m.correlation for m in one.sent(FetchResponse)] == [9]


def test_a_fetch_by_someone_who_is_no_replica_is_refused(leader):
    one = leader()
    one.fetched_by(1, 7, 0, epoch=5)

    assert answer(one).error == "NOT_LEADER_OR_FOLLOWER"


def test_a_fetch_beyond_the_log_end_is_out_of_range_and_counts_for_nothing(leader):
    one = leader(isr=(1, 2))
    one.fetched_by(1, 2, 3, epoch=5)

    assert (answer(one).error, answer(one).leo) == ("OFFSET_OUT_OF_RANGE", 2)
    assert one.replica.hw == 0


def test_a_fetch_below_the_log_start_is_out_of_range_before_any_divergence(leader):
    one = leader()
    one.replica.log.start = 1
    one.fetched_by(1, 2, 0, epoch=5, last=3)

    assert (answer(one).error, answer(one).diverging) == ("OFFSET_OUT_OF_RANGE", None)


@pytest.mark.parametrize(
    ("last", "offset", "diverging"),
    [
        pytest.param(4, 2, None, id="the same epoch and no further: no divergence"),
        pytest.param(4, 1, None, id="behind: no divergence"),
        pytest.param(4, 3, (4, 2), id="the same epoch but longer"),
        pytest.param(3, 1, (3, 0), id="an epoch below all of the leader's"),
        pytest.param(5, 3, (5, 2), id="the leader's own epoch, but longer"),
    ],
)
def test_a_fetch_that_names_its_epoch_is_told_where_the_logs_part(leader, last, offset, diverging):
    one = leader()
    one.fetched_by(1, 2, offset, epoch=5, last=last)

    if diverging is None:
        assert not any(m.diverging for m in one.sent(FetchResponse))
    else:
        assert (answer(one).diverging, answer(one).batches, answer(one).error) == (diverging, [], None)


def test_an_epoch_between_two_of_the_leaders_diverges_at_the_lower(broker, batch):
    one = broker(node=1, batches=[batch(0, 1, 70), batch(1, 3, 71)])
    one.lead(0, 5)
    one.fetched_by(1, 2, 1, epoch=5, last=2)

    assert answer(one).diverging == (1, 1)


def test_an_epoch_above_all_of_the_leaders_is_out_of_range(leader):
    one = leader()
    one.fetched_by(1, 2, 1, epoch=5, last=6)

    assert (answer(one).error, answer(one).diverging) == ("OFFSET_OUT_OF_RANGE", None)


@pytest.mark.parametrize(("variant", "leo", "hw"), [("kafka-2.7", -1, 0), ("kafka-2.7+KAFKA-13141", 2, 2)])
def test_a_diverging_fetch_is_no_progress(leader, variant, leo, hw):
    """KAFKA-13141: follower 2 has one record of epoch 3 too many; its offset 2 must not commit the leader's second record."""
    one = leader(variant, isr=(1, 2))
    one.fetched_by(1, 2, 2, epoch=5, last=3)

    assert answer(one).diverging == (3, 0)
    assert one.replica.leading.remotes[2].leo == leo
    assert one.replica.hw == hw


def test_a_diverging_fetch_does_not_join_the_isr(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=5, last=3)

    assert one.sent(AlterPartition) == []


# Fences (KIP-320), one by one


@pytest.mark.parametrize(("epoch", "error"), [(4, "FENCED_LEADER_EPOCH"), (6, "UNKNOWN_LEADER_EPOCH"), (5, None)])
def test_fetches_of_another_epoch_are_fenced(leader, epoch, error):
    one = leader("kafka-2.1")
    one.fetched_by(1, 2, 0, epoch=epoch)

    assert answer(one).error == error


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.1+no-fetch-fence"])
def test_without_the_fetch_fence_any_epoch_is_served(leader, variant):
    one = leader(variant)
    one.fetched_by(1, 2, 0, epoch=4)

    assert (answer(one).error, len(answer(one).batches)) == (None, 2)


@pytest.mark.parametrize(("epoch", "error"), [(4, "FENCED_LEADER_EPOCH"), (6, "UNKNOWN_LEADER_EPOCH"), (5, None)])
def test_truncation_requests_of_another_epoch_are_fenced(leader, epoch, error):
    one = leader("kafka-2.1")
    one.step(1, EpochRequest(2, T, 4, epoch, 9))
    (response,) = one.sent(EpochResponse, to=2)

    assert (response.correlation, response.error) == (9, error)


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.1+no-truncation-fence"])
def test_without_the_truncation_fence_they_are_answered(leader, variant):
    one = leader(variant)
    one.step(1, EpochRequest(2, T, 4, 4, 9))

    assert one.sent() == [EpochResponse(1, T, 9, (4, 2))]


@pytest.mark.parametrize(
    ("variant", "hw"),
    [
        pytest.param("kafka-2.1+no-fetch-fence", 0, id="hw fence on"),
        pytest.param("kafka-2.1+no-fetch-fence+no-hw-fence", 2, id="hw fence off"),
    ],
)
def test_the_high_watermark_counts_followers_of_its_own_epoch_only(leader, variant, hw):
    one = leader(variant, isr=(1, 2))
    one.fetched_by(1, 2, 2, epoch=4)

    assert one.replica.hw == hw


@pytest.mark.parametrize(
    ("variant", "joins"),
    [
        pytest.param("kafka-2.1+no-fetch-fence+no-hw-fence", False, id="isr fence on"),
        pytest.param("kafka-2.1+no-fetch-fence+no-hw-fence+no-isr-fence", True, id="isr fence off"),
    ],
)
def test_the_isr_takes_followers_of_its_own_epoch_only(leader, variant, joins):
    one = leader(variant, isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=4)

    assert bool(one.sent(AlterPartition)) == joins


@pytest.mark.parametrize(("variant", "error"), [("kafka-3.7", "STALE_BROKER_EPOCH"), ("kafka-2.7", None)])
def test_from_3_7_a_fetch_of_an_older_incarnation_is_refused(leader, variant, error):
    """KIP-903."""
    one = leader(variant)
    one.fetched_by(1, 2, 0, epoch=5, broker_epoch=12)
    one.fetched_by(2, 2, 0, epoch=5, broker_epoch=11)

    assert answer(one).error == error


# OffsetForLeaderEpoch


@pytest.mark.parametrize(("asked", "end"), [(4, (4, 2)), (5, (5, 2)), (3, (3, 0)), (6, (-1, -1)), (-1, (-1, -1))])
def test_an_epoch_request_is_looked_up_in_the_cache(leader, asked, end):
    one = leader("kafka-2.1")
    one.step(1, EpochRequest(2, T, asked, 5, 9))

    assert one.sent() == [EpochResponse(1, T, 9, end)]


@pytest.mark.parametrize(("asked", "offset"), [(4, 2), (3, -1), (5, -1)])
def test_0_11_answers_an_offset_without_epoch(leader, asked, offset):
    """Its leader has no record of epoch 5 yet, so it does not know that epoch."""
    one = leader("kafka-0.11")
    one.step(1, EpochRequest(2, T, asked, 5, 9))

    assert one.sent() == [EpochResponse(1, T, 9, (-1, offset))]


# ISR expansion


def test_a_caught_up_follower_is_proposed(leader):
    one = leader(isr=(1, 3), hw=1)
    one.fetched_by(1, 2, 2, epoch=5)

    (proposal,) = one.sent(AlterPartition, to=0)
    assert (proposal.source, proposal.leader_epoch, proposal.partition_epoch, proposal.broker_epoch) == (1, 5, 0, 11)
    assert [b for b, _ in proposal.isr] == [1, 3, 2]
    assert one.traced("isr") == [((1, 3), (1, 3, 2), 0)]


def test_from_3_7_the_proposal_names_the_incarnation_that_fetched(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(1, 2, 2, epoch=5, broker_epoch=77)

    assert [m.isr[-1] for m in one.sent(AlterPartition)] == [(2, 77)]


def test_a_follower_below_the_high_watermark_is_not(leader):
    """Above the epoch's start, but broker 3 has committed one record more."""
    one = leader(isr=(1, 3))
    one.produced(1, 72)
    one.fetched_by(2, 3, 3, epoch=5)
    assert one.replica.hw == 3

    one.fetched_by(3, 2, 2, epoch=5)
    assert one.sent(AlterPartition) == []
    one.fetched_by(4, 2, 3, epoch=5)
    assert len(one.sent(AlterPartition)) == 1


@pytest.mark.parametrize(("variant", "joins"), [("kafka-2.7", False), ("kafka-2.7+KAFKA-7128", True)])
def test_nor_is_one_below_the_leaders_epoch_start(leader, variant, joins):
    """KAFKA-7128: at the high watermark 1, but epoch 5 begins at 2."""
    one = leader(variant, isr=(1, 3), hw=1)
    one.fetched_by(1, 2, 1, epoch=5)

    assert bool(one.sent(AlterPartition)) == joins


def test_one_change_is_in_flight_at_a_time(leader):
    one = leader(isr=(1,), min_isr=1)
    one.fetched_by(1, 2, 2, epoch=5)
    one.fetched_by(2, 3, 2, epoch=5)
    assert one.sent(AlterPartition) == []

    one.step(3, AlterPartitionResponse(0, T, 1, 5, (1, 2), 1))
    one.fetched_by(4, 3, 2, epoch=5)
    assert [[b for b, _ in m.isr] for m in one.sent(AlterPartition)] == [[1, 2, 3]]


# ISR shrink


def test_a_follower_that_lags_too_long_is_put_out(leader):
    """Looked at every half lag time: 3 has had nothing since 0, which is not too long at 1.5 s, but is at 2.25 s."""
    one = leader()
    one.fetched_by(1_000 * MS, 2, 2, epoch=5)
    one.tick(1_500 * MS)
    assert one.sent(AlterPartition) == []
    one.tick(2_249 * MS)
    assert one.sent(AlterPartition) == []

    one.tick(2_250 * MS)
    assert [[b for b, _ in m.isr] for m in one.sent(AlterPartition, to=0)] == [[1, 2]]
    assert one.traced("isr") == [((1, 2, 3), (1, 2, 3), 0)]


def test_a_follower_at_the_log_end_stays_however_long_it_is_silent(leader):
    one = leader(isr=(1, 2))
    one.fetched_by(1, 2, 2, epoch=5)
    one.tick(9_000 * MS)

    assert one.sent(AlterPartition) == []


def test_a_follower_that_is_always_one_fetch_behind_counts_as_caught_up(leader):
    """It reached at each fetch what the log held at the one before; that fetch's time counts."""
    one = leader(isr=(1, 2))
    for n, now in enumerate(range(0, 8_000 * MS, 500 * MS)):
        one.produced(now, 72, acks="1")
        one.fetched_by(now + 1, 2, 2 + n, epoch=5)
        one.tick(now + 2)
        assert one.sent(AlterPartition) == []


def test_a_follower_that_fetches_without_ever_catching_up_is_put_out(leader):
    one = leader(isr=(1, 2))
    proposed = []
    for i, now in enumerate(range(0, 2_500 * MS, 500 * MS)):
        one.fetched_by(now, 2, 0 if i < 1 else 1, epoch=5)
        one.produced(now + 1, 72, acks="1")
        one.tick(now + 2)
        proposed += one.sent(AlterPartition)

    assert [[b for b, _ in m.isr] for m in proposed][:1] == [[1]]


def test_the_leader_never_puts_itself_out(leader):
    one = leader(isr=(1,), min_isr=1)
    one.tick(9_000 * MS)

    assert one.sent(AlterPartition) == []


# AlterPartition


def test_a_proposal_is_repeated_until_it_is_answered(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    (proposal,) = one.sent(AlterPartition)
    one.tick(499 * MS)
    assert one.sent(AlterPartition) == []

    one.tick(500 * MS)
    assert one.sent(AlterPartition) == [proposal]


def test_a_committed_proposal_is_taken(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, AlterPartitionResponse(0, T, 1, 5, (1, 3, 2), 1))

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.partition_epoch == 1
    one.tick(500 * MS)
    assert one.sent(AlterPartition) == []


def test_an_ineligible_member_is_given_up(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, AlterPartitionResponse(0, T, 1, 5, (1, 3), 0, "INELIGIBLE_REPLICA"))

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3)
    assert one.replica.leading.pending is None


@pytest.mark.parametrize("error", ["INVALID_UPDATE_VERSION", "FENCED_LEADER_EPOCH"])
def test_after_a_stale_proposal_the_high_watermark_waits_for_everybody_until_newer_state_comes(leader, error):
    """KAFKA-15353: what the controller holds is unknown, so nothing may be concluded from it."""
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.produced(1, 72)
    one.step(2, AlterPartitionResponse(0, T, 1, 5, (1, 3), 7, error))
    one.fetched_by(3, 3, 3, epoch=5)
    assert one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.hw == 2

    one.lead(4, 5, (1, 3), version=7)
    assert one.replica.leading.maximal == (1, 3)


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(AlterPartitionResponse(0, T, 2, 5, (1, 3), 0, "INELIGIBLE_REPLICA"), id="to another proposal"),
        pytest.param(AlterPartitionResponse(0, T, 1, 4, (1,), 9), id="of another leader epoch"),
        pytest.param(AlterPartitionResponse(0, T, 1, 5, (1,), 0), id="older than what is known"),
    ],
)
def test_an_answer_to_something_else_is_ignored(leader, response):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, response)

    assert one.did == []
    assert one.replica.leading.isr == (1, 3)


def test_a_commit_is_adopted_though_another_copy_of_the_proposal_was_refused_first(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, AlterPartitionResponse(0, T, 1, 5, (1, 3), 0, "INELIGIBLE_REPLICA"))
    one.step(2, AlterPartitionResponse(0, T, 1, 5, (1, 3, 2), 4))

    assert one.replica.leading.isr == one.replica.leading.maximal == (1, 3, 2)
    assert one.replica.partition_epoch == 4


def test_a_proposal_under_a_stale_broker_epoch_is_given_up(leader):
    one = leader("kafka-3.7", isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, AlterPartitionResponse(0, T, 1, 5, (1, 3), 0, "STALE_BROKER_EPOCH"))

    assert one.replica.leading.pending is None


def test_a_newer_state_of_the_same_epoch_ends_the_proposal(leader):
    one = leader(isr=(1, 3))
    one.fetched_by(0, 2, 2, epoch=5)
    one.step(1, LeaderAndIsr(0, T, 1, 5, (1,), 1, (1, 2, 3), 11))

    assert one.traced("isr") == [((1,), (1,), 1)]
    assert one.replica.leading.pending is None


def test_the_next_proposal_builds_on_the_newer_state(leader):
    one = leader(isr=(1, 3), min_isr=1)
    one.step(1, LeaderAndIsr(0, T, 1, 5, (1,), 4, (1, 2, 3), 11))
    one.fetched_by(2, 2, 2, epoch=5)

    assert [(m.partition_epoch, [b for b, _ in m.isr]) for m in one.sent(AlterPartition)] == [(4, [1, 2])]
