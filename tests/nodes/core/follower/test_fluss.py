"""Fluss: a follower takes its log end for its high watermark."""

from at_a_follower import got

from tidemark.nodes.core.actions import Truncate
from tidemark.nodes.core.messages import FetchRequest

T = "t-0"


def test_fluss_follower_takes_its_own_log_end_for_its_high_watermark(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), batch(2, 5, 81), hw=1)

    assert two.replica.hw == 3
    got(two, 2, hw=2)
    assert two.replica.hw == 3


def test_fluss_follower_cuts_nothing_when_another_leader_comes(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), batch(2, 5, 81), hw=1)
    two.told(2, 3, 6)

    assert two.done(Truncate) == []
    assert [(m.offset, m.leader_epoch, m.last_fetched_epoch) for m in two.sent(FetchRequest, to=3)] == [(3, 6, -1)]


def test_fluss_replica_that_starts_cuts_to_its_checkpoint(follower):
    two = follower("fluss-0.9")

    assert two.traced("truncate") == [(1, 4, "to high watermark", 5)]
    assert two.done(Truncate) == [Truncate(T, 1)]


def test_fluss_deposed_leader_cuts_to_the_high_watermark_that_it_had_as_leader(follower, batch):
    two = follower("fluss-0.9")
    got(two, 1, batch(1, 5, 80), hw=1)
    two.lead(2, 6)
    two.produced(3, 90)
    two.told(4, 3, 7)

    assert two.traced("truncate") == [(2, 3, "to high watermark", 7)]
