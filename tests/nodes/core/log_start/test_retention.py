"""Retention takes whole batches below the high watermark."""

import pytest
from at_a_log_start import delete, log

from tidemark.nodes.core.actions import DropBefore
from tidemark.nodes.core.events import RetentionDue

T = "t-0"


def test_retention_takes_whole_batches_and_the_log_starts_behind_them(leader):
    one = leader()
    one.step(1, RetentionDue(T, 1))

    assert one.traced("log-start") == [(3, 0, "retention")]
    assert one.done(DropBefore) == [DropBefore(T, 3)]
    assert log(one) == (3, 5, [3])


def test_retention_may_take_everything(leader):
    one = leader()
    one.step(1, RetentionDue(T, 9))

    assert log(one) == (5, 5, [])
    assert one.replica.cache.entries() == ((5, 5),)


@pytest.mark.parametrize("hw", [3, 4])
def test_retention_leaves_what_reaches_above_the_high_watermark(leader, hw):
    one = leader(hw=hw)
    one.step(1, RetentionDue(T, 9))

    assert log(one) == (3, 5, [3])


def test_retention_takes_what_was_deleted_before(leader):
    one = leader()
    delete(one, 1, 4)
    one.step(2, RetentionDue(T, 1))

    assert one.traced("log-start") == []
    assert one.done(DropBefore) == [DropBefore(T, 3)]
    assert log(one) == (4, 5, [3])


def test_retention_needs_no_leader(broker, batch):
    two = broker("kafka-0.10", node=2, batches=[batch(0, 1, 70), batch(1, 1, 71)], hw=1)
    two.step(1, RetentionDue(T, 5))

    assert log(two) == (1, 2, [1])


def test_retention_of_nothing_says_nothing(leader):
    one = leader(hw=0)
    one.step(1, RetentionDue(T, 5))

    assert one.did == []


def test_retention_of_an_unknown_partition_does_nothing(broker):
    one = broker()
    one.step(1, RetentionDue(T, 5))

    assert one.did == []
