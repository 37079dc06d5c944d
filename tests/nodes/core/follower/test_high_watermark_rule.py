"""Truncation to the follower's own high watermark, Kafka 0.10."""

import pytest
from at_a_follower import fetches, got, told_end

from tidemark.nodes.core.actions import Halt, Truncate

T = "t-0"


def test_0_10_cuts_to_its_own_high_watermark_and_fetches(follower):
    two = follower("kafka-0.10")

    assert two.traced("truncate") == [(1, 4, "to high watermark", 5)]
    assert two.done(Truncate) == [Truncate(T, 1)]
    assert fetches(two) == [(1, 5, -1)]


def test_0_10_does_not_cut_when_the_same_leader_goes_on_in_a_new_epoch(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, 1, 6)

    assert two.done(Truncate) == []
    assert fetches(two) == [(2, 6, -1)]


def test_0_10_cuts_again_when_another_leader_comes(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, 3, 6)

    assert two.done(Truncate) == [Truncate(T, 1)]


def test_0_10_does_not_take_no_leader_for_another_leader(follower, batch):
    two = follower("kafka-0.10")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.told(2, -1, 6)
    two.told(3, 1, 7)

    assert two.done(Truncate) == []


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1+truncation=hw+KAFKA-7414"])
def test_0_10_stops_when_the_leaders_log_ends_before_its_own(follower, variant):
    """``handleOffsetOutOfRange``: unclean election is disabled, so this is data loss that must not happen."""
    two = follower(variant)
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == [Halt("fatal")]
    assert two.traced("fatal") == [("leader's log end 0 is below own 1, and unclean election is disabled",)]


def test_0_11_does_too_after_it_has_asked(follower):
    """Gone with KAFKA-7414, in 2.0.1 and 2.1."""
    two = follower("kafka-0.11")
    told_end(two, 1, -1, 9)
    got(two, 2, leo=2, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == [Halt("fatal")]


def test_a_later_binary_held_to_0_10_does_not(follower):
    two = follower("kafka-2.0+truncation=hw+bounce-detection")
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == []
    assert two.done(Truncate) == [Truncate(T, 0)]


def test_0_10_cuts_to_the_leaders_end_where_unclean_election_is_enabled(follower):
    two = follower("kafka-0.10", unclean_election=True)
    got(two, 1, leo=0, error="OFFSET_OUT_OF_RANGE")

    assert two.done(Halt) == []
    assert two.done(Truncate) == [Truncate(T, 0)]
    assert fetches(two) == [(0, 5, -1)]
