"""The leader's log start lies inside a batch (KAFKA-6975)."""

import pytest
from at_a_log_start import began_at_4, got, log

from tidemark.nodes.core.actions import Append, BeginAt

T = "t-0"


def test_the_whole_batch_is_taken_and_the_part_below_is_not_read(follower, batch):
    """KAFKA-6975."""
    two = began_at_4(follower)
    got(two, 2, batch(3, 5, 73, 74), batch(5, 5, 75), hw=5, start=4)

    assert two.traced("log-start") == [(3, 4, "begin-anew"), (4, 3, "leader")]
    assert two.done(BeginAt) == [BeginAt(T, 3)]
    assert [append.batch.base for append in two.done(Append)] == [3, 5]
    assert log(two) == (4, 6, [3, 5])
    assert two.replica.cache.entries() == ((5, 4),)
    assert two.replica.hw == 5


def test_without_kafka_6975_it_is_out_of_order_for_ever(follower, batch):
    two = began_at_4(follower, "kafka-2.7+KAFKA-6975")
    got(two, 2, batch(3, 5, 73, 74), hw=5, start=4)

    assert two.traced("out-of-order") == [(3, 4)]
    assert log(two) == (4, 4, [])


def test_a_log_with_records_never_begins_again_with_a_batch(follower, batch):
    two = began_at_4(follower)
    got(two, 2, batch(4, 5, 74, 75), hw=5, start=4)
    got(two, 3, batch(5, 5, 75, 76), hw=5, start=4)

    assert two.traced("out-of-order") == [(5, 6)]


@pytest.mark.parametrize(
    ("variant", "start", "found"),
    [
        ("kafka-2.7", 6, (4, 6, [4])),
        ("kafka-2.7+begin-anew", 6, (6, 8, [5])),
        ("kafka-2.7+begin-anew", 5, (4, 6, [4])),
        ("kafka-2.7+begin-anew+KAFKA-6975", 6, (4, 6, [4])),
    ],
)
def test_a_log_that_ends_at_its_leaders_log_start_may_begin_anew(follower, batch, variant, start, found):
    """Only if the leader's has given up all that it holds."""
    two = began_at_4(follower, variant)
    got(two, 2, batch(4, 5, 74, 75), hw=4, start=4)
    got(two, 3, batch(5, 6, 85, 86, 87), hw=8, start=start)

    assert two.traced("out-of-order") == ([(5, 6)] if found[0] == 4 else [])
    assert log(two) == found


def test_a_batch_that_ends_below_is_out_of_order(follower, batch):
    two = began_at_4(follower)
    got(two, 2, batch(3, 5, 73), hw=5, start=4)

    assert two.traced("out-of-order") == [(3, 4)]
