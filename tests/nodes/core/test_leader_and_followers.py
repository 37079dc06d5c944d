"""What followers get from a leader: records, where logs part, and KIP-320's fences (docs/protocol.md)."""

import pytest

from tidemark.nodes.core.messages import AlterPartition, EpochRequest, EpochResponse, FetchResponse

T = "t-0"
MS = 1_000


def answer(one):
    """The one fetch response of the last step."""
    (response,) = one.sent(FetchResponse)
    return response


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


@pytest.mark.parametrize(
    ("old", "end"),
    [pytest.param(1, (4, 2), id="only the leader is old"), pytest.param(2, (-1, 2), id="only the follower is old")],
)
def test_during_an_upgrade_the_answer_has_the_version_of_the_question(leader, old, end):
    """KIP-279's first step is the new code in the old protocol: Kafka 2.0.0 answers in the version it is asked in."""
    one = leader(f"kafka-2.0+truncation@{old}=kip101")
    one.step(1, EpochRequest(2, T, 4, 5, 9))

    assert one.sent() == [EpochResponse(1, T, 9, end)]
