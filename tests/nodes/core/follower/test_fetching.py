"""What is fetched, appended and refused, and who is out of range."""

import pytest
from at_a_follower import fetches, got, in_flight, told_end

from tidemark.nodes.core.actions import Append, Halt, WriteEpochs
from tidemark.nodes.core.messages import EpochRequest, FetchResponse

T = "t-0"
MS = 1_000


# Fetching


def test_what_came_is_appended_and_the_next_fetch_goes_out(follower, batch):
    two = follower()
    new = batch(4, 3, 74), batch(5, 5, 75, 76)
    got(two, 1, *new, hw=5)

    assert two.done(Append) == [Append(T, new[0]), Append(T, new[1])]
    assert two.done(WriteEpochs) == [WriteEpochs(T, ((1, 0), (3, 2), (5, 5)))]
    assert two.traced("hw") == [(5, 5, False)]
    assert fetches(two) == [(7, 5, 5)]


def test_the_first_answered_fetch_of_an_epoch_is_traced_once(follower):
    two = follower()
    got(two, 1)
    assert two.traced("fetched") == [(5, 1)]
    got(two, 2)
    assert two.traced("fetched") == []

    two.told(3, 1, 6)
    got(two, 4)
    assert two.traced("fetched") == [(6, 1)]


@pytest.mark.parametrize(
    ("leader_hw", "hw"),
    [
        pytest.param(3, 3, id="the leader's"),
        pytest.param(9, 4, id="but not beyond the own log"),
        pytest.param(0, 0, id="and it may go back"),
    ],
)
def test_a_followers_high_watermark_is_the_leaders_within_its_own_log(follower, leader_hw, hw):
    two = follower(hw=2)
    got(two, 1, hw=leader_hw)

    assert two.replica.hw == hw
    assert two.traced("hw") == [(hw, 5, False)]


def test_an_unchanged_high_watermark_is_not_traced(follower):
    two = follower(hw=4)
    got(two, 1, hw=9)

    assert two.traced("hw") == []


def test_a_batch_that_begins_below_the_log_end_is_refused(follower, batch):
    two = follower()
    got(two, 1, batch(3, 5, 74, 75), hw=6)

    assert two.traced("out-of-order") == [(3, 4)]
    assert two.done(Append) == []
    assert (two.replica.leo, two.replica.hw) == (4, 1)
    assert fetches(two) == []

    two.tick(100 * MS)
    assert fetches(two) == [], "until there is a newer leader epoch"


def test_batches_before_the_one_that_does_not_fit_are_kept(follower, batch):
    two = follower()
    got(two, 1, batch(4, 5, 74), batch(4, 5, 75))

    assert two.replica.leo == 5
    assert two.traced("out-of-order") == [(4, 5)]


def test_a_hole_of_the_leader_is_taken_over(follower, batch):
    two = follower()
    got(two, 1, batch(6, 5, 74), hw=4)

    assert two.replica.leo == 7
    assert fetches(two) == [(7, 5, 5)]


@pytest.mark.parametrize(
    "error", ["NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "STALE_BROKER_EPOCH"]
)
def test_a_refused_fetch_is_sent_again_at_the_next_tick(follower, error):
    two = follower()
    got(two, 1, hw=4, error=error)
    assert two.did == []

    two.tick(100 * MS)
    assert fetches(two) == [(4, 5, 3)]


def test_an_unanswered_fetch_is_sent_again_after_a_while(follower):
    two = follower()
    two.tick(499 * MS)
    assert fetches(two) == []

    two.tick(500 * MS)
    assert fetches(two) == [(4, 5, 3)]


def test_a_response_to_an_older_fetch_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.tick(500 * MS)
    got(two, 501 * MS, batch(4, 5, 74), hw=4, correlation=first)

    assert two.did == []


def test_a_response_is_taken_once(follower, batch):
    two = follower()
    first = in_flight(two)
    got(two, 1, batch(4, 5, 74))
    got(two, 2, batch(4, 5, 74), correlation=first)

    assert two.did == []


def test_a_response_from_the_former_epoch_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.told(1, 3, 6)
    got(two, 2, batch(4, 5, 74), correlation=first)

    assert two.did == []


def test_a_response_that_arrives_at_a_leader_is_ignored(follower, batch):
    two = follower()
    first = in_flight(two)
    two.lead(1, 6)
    two.step(2, FetchResponse(1, T, first, [batch(4, 5, 74)], 4, 5))

    assert two.did == []


# Out of range


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_from_2_0_an_out_of_range_follower_cuts_to_the_leaders_end(follower, variant):
    two = follower(variant)
    if two.sent(EpochRequest):
        told_end(two, 1, 3, 9)
    got(two, 2, leo=3, error="OFFSET_OUT_OF_RANGE")

    assert two.traced("truncate") == [(3, 4, "out of range: to the leader's log end 3", 5)]
    assert two.done(Halt) == []
    assert [offset for offset, _, _ in fetches(two)] == [3]


def test_out_of_range_although_the_leader_has_as_much_is_tried_again_later(follower):
    two = follower()
    got(two, 1, leo=4, error="OFFSET_OUT_OF_RANGE")
    assert two.did == []

    two.tick(100 * MS)
    assert fetches(two) == [(4, 5, 3)]
