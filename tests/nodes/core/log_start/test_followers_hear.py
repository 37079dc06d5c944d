"""Followers hear of the log start with every answer, and take it over."""

from at_a_log_start import delete, fetches, got, log

from tidemark.nodes.core.events import RetentionDue
from tidemark.nodes.core.messages import FetchResponse

T = "t-0"


def test_every_answer_to_a_follower_tells_where_the_log_starts(leader):
    one = leader()
    delete(one, 1, 3)
    one.fetched_by(2, 2, 3, 5, last=1)
    assert [m.start for m in one.sent(FetchResponse)] == [3]

    one.fetched_by(3, 2, 0, 5)
    assert [(m.error, m.leo, m.start) for m in one.sent(FetchResponse)] == [("OFFSET_OUT_OF_RANGE", 5, 3)]

    one.fetched_by(4, 2, 5, 5, last=2)
    one.produced(5, 75)
    assert [m.start for m in one.sent(FetchResponse)] == [3]


def test_a_follower_takes_over_its_leaders_log_start(follower, batch):
    two = follower()
    got(two, 1, batch(2, 5, 72), hw=2, start=1)

    assert two.traced("log-start") == [(1, 0, "leader")]
    assert log(two) == (1, 3, [0, 1, 2])
    assert fetches(two) == [(3, 5, 1)]


def test_before_kip_107_a_follower_does_not_hear_of_it(follower, batch):
    two = follower("kafka-0.10", hw=2)
    got(two, 1, batch(2, 5, 72), hw=2, start=1)

    assert two.replica.log.start == 0


def test_a_followers_own_log_start_stays_if_it_is_larger(follower, batch):
    two = follower()
    two.step(1, RetentionDue(T, 2))
    got(two, 2, batch(2, 5, 72), hw=3, start=1)

    assert log(two) == (2, 3, [2])


def test_a_high_watermark_does_not_fall_below_the_log_start(follower):
    """A new leader may know a lower one."""
    two = follower()
    two.step(1, RetentionDue(T, 2))
    got(two, 2, hw=1)

    assert two.replica.hw == 2
