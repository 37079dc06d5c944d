"""Truncation on fetch, and what a cut takes along."""

import pytest
from at_a_follower import asks, fetches, got, told_end

from tidemark.nodes.core.actions import Truncate, WriteEpochs
from tidemark.nodes.core.messages import EpochRequest, FetchRequest

T = "t-0"


# Truncation on fetch


def test_2_7_fetches_at_once_and_names_its_latest_epoch(follower):
    two = follower()

    assert fetches(two) == [(4, 5, 3)]
    assert asks(two) == []
    assert two.done(Truncate) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_earlier_fetches_do_not(follower, batch, variant):
    two = follower(variant, batches=[batch(0, 1, 70)])
    if two.sent(EpochRequest):
        told_end(two, 1, 1, 1)

    assert fetches(two) == [(1, 5, -1)]


def test_a_fetch_names_leader_epoch_and_broker_epoch(follower):
    (fetch,) = follower().sent(FetchRequest)

    assert (fetch.source, fetch.leader_epoch, fetch.broker_epoch) == (2, 5, 12)


def test_a_diverging_epoch_cuts_and_the_next_fetch_goes_on_from_there(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))

    assert two.traced("truncate") == [(2, 4, "to the end of common epoch 1", 5)]
    assert fetches(two) == [(2, 5, 1)]


def test_a_second_diverging_epoch_cuts_further(follower):
    two = follower()
    got(two, 1, diverging=(2, 9))
    assert fetches(two) == [(2, 5, 1)]

    got(two, 2, diverging=(1, 1))
    assert fetches(two) == [(1, 5, 1)]


@pytest.mark.parametrize(("variant", "hw"), [("kafka-2.7", 1), ("kafka-2.7+KAFKA-14704", 2)])
def test_the_high_watermark_of_a_diverging_response_is_not_taken(follower, variant, hw):
    """KAFKA-14704."""
    two = follower(variant)
    got(two, 1, diverging=(1, 2), hw=9)

    assert two.replica.hw == hw


def test_a_diverging_response_is_no_first_fetch(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))
    assert two.traced("fetched") == []

    got(two, 2)
    assert two.traced("fetched") == [(5, 1)]


# Cutting


def test_a_cut_takes_the_high_watermark_along(follower):
    two = follower(hw=4)
    got(two, 1, diverging=(1, 2))

    assert two.replica.hw == 2
    assert two.traced("hw") == [(2, 5, False)]


def test_a_cut_takes_the_epochs_along(follower):
    two = follower()
    got(two, 1, diverging=(1, 2))

    assert two.replica.cache.entries() == ((1, 0),)
    assert two.done(WriteEpochs) == [WriteEpochs(T, ((1, 0),))]


def test_a_cut_inside_a_batch_drops_all_of_it(follower, batch):
    """KIP-279, scenario 1, n > 20: to 21 is to 11."""
    two = follower(batches=[batch(0, 1, *range(11)), batch(11, 2, *range(15))], hw=11)
    got(two, 1, diverging=(1, 21))
    assert two.traced("truncate") == [(11, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == []

    two = follower("kafka-2.1", batches=[batch(0, 1, *range(11)), batch(11, 1, *range(15))], hw=22)
    told_end(two, 1, 1, 21)
    assert two.traced("truncate") == [(21, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == [(11, 21)]
    assert two.traced("hw") == [(21, 5, False)]
    assert two.replica.leo == 21


def test_repaired_the_log_ends_where_the_batch_began(follower, batch):
    two = follower("kafka-2.1+cut-ends-at-batch", batches=[batch(0, 1, *range(11)), batch(11, 1, *range(15))], hw=22)
    told_end(two, 1, 1, 21)

    assert two.traced("truncate") == [(11, 26, "to the end of common epoch 1", 5)]
    assert two.traced("hole") == []
    assert (two.replica.leo, two.replica.hw) == (11, 11)


def test_an_epoch_without_records_at_the_logs_end_goes_in_a_cut_that_cuts_no_record(follower):
    """KAFKA-10706: the follower led epoch 4 and wrote nothing."""
    two = follower("kafka-2.1", epochs=((1, 0), (3, 2), (4, 4)))
    assert asks(two) == [(4, 5)]
    told_end(two, 1, 3, 4)

    assert two.replica.leo == 4
    assert two.replica.cache.entries() == ((1, 0), (3, 2))


def test_with_kafka_10706_it_stays_and_truncation_never_ends(follower):
    two = follower("kafka-2.1+KAFKA-10706", epochs=((1, 0), (3, 2), (5, 4)))
    for now in range(1, 4):
        told_end(two, now, 4, 9)
        assert asks(two) == [(5, 5)]


def test_a_cut_that_cuts_nothing_is_not_traced(follower):
    two = follower("kafka-2.1")
    told_end(two, 1, 3, 9)

    assert two.traced("truncate") == []
    assert two.done(Truncate) == []
