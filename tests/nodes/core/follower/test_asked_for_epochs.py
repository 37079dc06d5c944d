"""Truncation to what the leader says of an epoch: KIP-101, KIP-279, and what comes late."""

import pytest
from at_a_follower import asks, fetches, in_flight, told_end

from tidemark.nodes.core.actions import Truncate, WriteHighWatermarks
from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.messages import EpochRequest, EpochResponse

T = "t-0"
MS = 1_000


# KIP-101


def test_0_11_asks_for_its_latest_epoch_before_it_fetches(follower):
    two = follower("kafka-0.11")

    assert asks(two) == [(3, 5)]
    assert fetches(two) == []
    assert two.traced("ask") == [(1, 3)]
    assert two.done(Truncate) == []


@pytest.mark.parametrize(
    ("offset", "leo"),
    [
        pytest.param(3, 3, id="inside the log: cut"),
        pytest.param(4, 4, id="at its end: keep"),
        pytest.param(9, 4, id="beyond: keep"),
        pytest.param(-1, 1, id="undefined: to the high watermark"),
        pytest.param(0, 0, id="everything"),
    ],
)
def test_0_11_cuts_once_and_fetches(follower, offset, leo):
    two = follower("kafka-0.11")
    told_end(two, 1, -1, offset)

    assert two.replica.leo == leo
    assert fetches(two) == [(leo, 5, -1)]
    assert asks(two) == []


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.0", "kafka-2.1"])
def test_without_an_epoch_the_follower_cuts_to_its_high_watermark(follower, variant):
    two = follower(variant, epochs=())

    assert two.replica.leo == 1
    assert asks(two) == []
    assert fetches(two) == [(1, 5, -1)]


# KIP-279


def test_2_0_asks_again_until_it_knows_the_epoch(follower):
    two = follower("kafka-2.0")
    assert asks(two) == [(3, 5)]

    told_end(two, 1, 2, 9)
    assert two.traced("truncate") == [(2, 4, "to the end of local epoch 1", 5)]
    assert asks(two) == [(1, 5)]
    assert fetches(two) == []

    told_end(two, 2, 1, 1)
    assert two.traced("truncate") == [(1, 2, "to the end of common epoch 1", 5)]
    assert fetches(two) == [(1, 5, -1)]


def test_2_0_fetches_instead_of_asking_when_no_epoch_is_left(follower):
    two = follower("kafka-2.0")
    told_end(two, 1, 0, 0)

    assert two.replica.leo == 0
    assert two.replica.cache.entries() == ()
    assert asks(two) == []
    assert fetches(two) == [(0, 5, -1)]


@pytest.mark.parametrize("error", ["FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"])
def test_an_error_cuts_nothing_and_is_asked_again_at_the_next_tick(follower, error):
    """The KIP says: any error truncates to the high watermark. The code retries."""
    two = follower("kafka-2.1")
    told_end(two, 1, -1, -1, error=error)
    assert two.did == []

    two.tick(100 * MS)
    assert asks(two) == [(3, 5)]
    assert two.replica.leo == 4


def test_an_unanswered_question_is_repeated(follower):
    two = follower("kafka-2.1")
    two.tick(499 * MS)
    assert asks(two) == []

    two.tick(500 * MS)
    assert asks(two) == [(3, 5)]


@pytest.mark.parametrize("error", ["FENCED_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"])
def test_as_the_kip_has_it_an_error_cuts_to_the_high_watermark(follower, error):
    two = follower("kafka-2.1+hw-on-error")
    told_end(two, 1, -1, -1, error=error)

    assert two.traced("truncate") == [(1, 4, "no answer: to high watermark", 5)]
    assert fetches(two) == [(1, 5, -1)]


def test_as_the_kip_has_it_a_time_out_is_an_error(follower):
    two = follower("kafka-2.1+hw-on-error")
    two.tick(499 * MS)
    assert two.traced("truncate") == []

    two.tick(500 * MS)
    assert two.traced("truncate") == [(1, 4, "no answer: to high watermark", 5)]
    assert asks(two) == []


def test_a_follower_may_send_its_epochs_from_its_high_watermark_on_and_then_all(follower):
    two = follower("kafka-2.1+truncation=lineage", hw=3)
    (first,) = two.sent(EpochRequest, to=1)
    told_end(two, 1, -2, -1)
    (second,) = two.sent(EpochRequest, to=1)
    told_end(two, 2, -2, -1)

    assert (first.lineage, second.lineage) == (((3, 4),), ((1, 2), (3, 4)))
    assert two.traced("truncate") == [(3, 4, "leader knows none of the epochs: to high watermark", 5)]


def test_the_epoch_of_the_high_watermark_is_asked_for_and_the_high_watermark_written(follower):
    two = follower("kafka-2.1+truncation=hw-epoch")

    assert two.done(WriteHighWatermarks) == [WriteHighWatermarks({T: 1})]
    assert asks(two) == [(1, 5)]
    assert follower("kafka-2.1").done(WriteHighWatermarks) == []


def test_during_an_upgrade_a_broker_has_the_rule_of_its_own_version(follower):
    """The question and what is made of the answer are the old ones; another broker's are not."""
    two = follower("kafka-2.1+truncation@2=kip101")
    told_end(two, 1, 1, 9)
    assert two.traced("truncate") == []

    two = follower("kafka-2.1+truncation@1=kip101")
    told_end(two, 1, 1, 9)
    assert two.traced("truncate") == [(2, 4, "to the end of common epoch 1", 5)]


def test_an_answer_to_an_older_question_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.tick(500 * MS)
    told_end(two, 501 * MS, 1, 0, correlation=first)

    assert two.did == []
    assert two.replica.leo == 4


def test_an_answer_from_before_a_new_leader_epoch_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.told(1, 1, 6)
    told_end(two, 2, 1, 0, correlation=first)

    assert two.did == []
    assert two.replica.leo == 4


def test_an_answer_that_arrives_at_a_leader_is_ignored(follower):
    two = follower("kafka-2.1")
    first = in_flight(two)
    two.lead(1, 6)
    two.step(2, EpochResponse(1, T, first, EpochEnd(1, 0)))

    assert two.did == []
