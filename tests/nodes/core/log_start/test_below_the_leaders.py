"""A follower whose log ends below its leader's log start begins anew there."""

import pytest
from at_a_log_start import began_at_4, fetches, got, log

from tidemark.nodes.core.actions import BeginAt, WriteEpochs, WriteLogStarts
from tidemark.nodes.core.events import RetentionDue

T = "t-0"
MS = 1_000
OLD_RULES = ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"]


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-4.0"])
def test_a_follower_whose_log_ends_below_the_leaders_start_begins_anew_there(follower, variant):
    two = follower(variant)
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)

    assert two.traced("truncate") == [(0, 2, "out of range: to the leader's log start 4", 5)]
    assert two.traced("log-start") == [(4, 0, "begin-anew")]
    assert two.done(BeginAt) == [BeginAt(T, 4)]
    assert two.done(WriteEpochs) == [WriteEpochs(T, ())]
    assert log(two) == (4, 4, [])
    assert fetches(two) == [(4, -1, 4)]


def test_its_high_watermark_goes_along(follower):
    two = follower()
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)

    assert two.traced("hw") == [(4, 5, False)]


def test_kafka_9491_left_the_high_watermark_behind(follower):
    two = follower("kafka-2.7+KAFKA-9491")
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)

    assert two.traced("hw") == []
    assert two.replica.hw == 2


@pytest.mark.parametrize("variant", OLD_RULES)
def test_so_it_is_under_the_older_rules(follower, variant):
    two = follower(variant, batches=[], hw=0)
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)

    assert log(two) == (4, 4, [])
    assert [offset for offset, _, _ in fetches(two)] == [4]


def test_a_follower_that_ends_where_the_leader_starts_only_fetches_again(follower):
    two = follower()
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=2)

    assert log(two) == (0, 2, [0, 1])
    assert fetches(two) == []


def test_a_leader_that_ends_before_its_follower_is_cut_to_whatever_its_start(follower):
    two = follower()
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=1, start=0)

    assert log(two) == (0, 1, [0])


def test_a_cut_below_the_log_start_takes_the_log_start_down(follower):
    """``UnifiedLog.truncateTo``: after an unclean election the leader may know nothing of a deletion."""
    two = follower()
    two.step(1, RetentionDue(T, 2))
    got(two, 2, error="OFFSET_OUT_OF_RANGE", leo=1, start=0)

    assert two.traced("truncate") == [(1, 2, "out of range: to the leader's log end 1", 5)]
    assert log(two) == (1, 1, [])


def test_after_it_began_anew_it_tells_of_its_first_fetch_once_more(follower, batch):
    """The pair is compared again from there."""
    two = follower()
    got(two, 1, hw=2)
    assert two.traced("fetched") == [(5, 1)]

    got(two, 2, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)
    got(two, 3, batch(4, 5, 74), hw=4, start=4)
    assert two.traced("fetched") == [(5, 1)]


@pytest.mark.parametrize(
    ("variant", "found"), [("kafka-4.0", (4, 5, [4])), ("kafka-4.0+keep-last-epoch", (1, 5, [1, 4]))]
)
def test_a_log_with_nothing_in_common_goes_on_behind_its_leaders_records_or_begins_with_them(
    follower, batch, variant, found
):
    """docs/findings/back-below-its-log-start.md: what lies below its log start it has not, and it has no epoch that would tell."""
    two = began_at_4(follower, variant)
    got(two, 2, batch(4, 5, 74), hw=5, start=1)
    if found[0] == 1:
        assert fetches(two)[-1][0] == 1
        got(two, 3, batch(1, 1, 71, 72, 73), batch(4, 5, 74), hw=5, start=1)

    assert log(two) == found


def test_what_it_has_in_common_it_keeps(follower, batch):
    two = began_at_4(follower, "kafka-4.0+keep-last-epoch")
    got(two, 2, batch(4, 5, 74), hw=5, start=4)
    got(two, 3, hw=5, start=5)
    got(two, 4, batch(5, 5, 75), hw=5, start=1)

    assert log(two) == (5, 6, [4, 5])


@pytest.mark.parametrize(
    ("variant", "noted"),
    [("kafka-4.0+keep-last-epoch", []), ("kafka-4.0+keep-last-epoch+log-start-with-cut", [WriteLogStarts({})])],
)
def test_a_log_start_that_goes_back_is_noted_with_the_next_checkpoint_or_at_once(follower, batch, variant, noted):
    two = follower(variant, batches=[batch(0, 1, 70, 71, 72, 73)], epochs=(), hw=4, log_start=4)
    two.tick(2_000 * MS)
    got(two, 2_001 * MS, batch(4, 5, 74), hw=5, start=1)

    assert two.replica.log.start == 1
    assert two.done(WriteLogStarts) == noted
