"""When the log start is written to its checkpoint, and what a broker reads there."""

import pytest
from at_a_log_start import delete, fetches, got

from tidemark.nodes.core.actions import MarkCleanShutdown, WriteEpochs, WriteLogStarts
from tidemark.nodes.core.events import RetentionDue, ShutdownRequested
from tidemark.nodes.core.messages import HeartbeatReply

T = "t-0"
MS = 1_000


def test_the_log_start_is_checkpointed_in_its_own_time(leader):
    one = leader()
    delete(one, 1, 4)
    one.tick(1_999 * MS)
    assert one.done(WriteLogStarts) == []

    one.tick(2_000 * MS)
    assert one.done(WriteLogStarts) == [WriteLogStarts({T: 4})]


def test_nothing_is_written_that_has_not_changed(leader):
    one = leader()
    one.tick(2_000 * MS)
    assert one.done(WriteLogStarts) == []

    delete(one, 2_001 * MS, 4)
    one.tick(4_000 * MS)
    one.tick(6_000 * MS)
    assert one.done(WriteLogStarts) == []


def test_a_log_that_starts_where_its_first_batch_does_has_no_checkpoint(leader):
    one = leader()
    delete(one, 1, 3)
    one.tick(2_000 * MS)
    assert one.done(WriteLogStarts) == [WriteLogStarts({T: 3})]

    one.step(2_001 * MS, RetentionDue(T, 1))
    one.tick(4_000 * MS)
    assert one.done(WriteLogStarts) == [WriteLogStarts({})]


def test_a_clean_stop_writes_it(leader):
    one = leader()
    delete(one, 1, 4)
    one.step(2, ShutdownRequested())
    one.step(3, HeartbeatReply(0, may_stop=True))

    assert one.done(WriteLogStarts) == [WriteLogStarts({T: 4})]
    assert one.done(MarkCleanShutdown)


def test_a_recovered_log_start_is_told_to_the_leader(broker, batch):
    two = broker(node=2, batches=[batch(0, 1, 70, 71, 72)], hw=2, log_start=2)
    two.told(0, 1, 5)

    assert fetches(two) == [(3, 1, 2)]


@pytest.mark.parametrize(
    ("variant", "noted"), [("kafka-4.0", []), ("kafka-4.0+log-start-with-cut", [WriteLogStarts({T: 1})])]
)
def test_a_cut_below_the_log_start_is_noted_with_the_next_checkpoint_or_at_once(follower, batch, variant, noted):
    two = follower(variant, batches=[batch(0, 1, 70), batch(1, 1, 71, 72, 73)], hw=4, log_start=4)
    two.tick(2_000 * MS)
    got(two, 2_001 * MS, leo=1, error="OFFSET_OUT_OF_RANGE")

    assert two.replica.log.start == 1
    assert two.done(WriteLogStarts) == noted


@pytest.mark.parametrize(
    ("variant", "noted"), [("kafka-4.0", []), ("kafka-4.0+log-start-first", [WriteLogStarts({T: 3})])]
)
def test_a_log_start_that_moves_is_noted_with_the_next_checkpoint_or_before_the_epochs_go(leader, variant, noted):
    one = leader(variant)
    files = [action for action in delete(one, 1, 3) if isinstance(action, WriteLogStarts | WriteEpochs)]

    assert files[:-1] == noted
    assert isinstance(files[-1], WriteEpochs)
