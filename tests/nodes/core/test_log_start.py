"""Where a log starts: records are deleted, followers hear of it, whoever is below begins anew (docs/protocol.md, "Log start")."""

import pytest

from tidemark.nodes.core.actions import Append, BeginAt, DropBefore, MarkCleanShutdown, WriteEpochs, WriteLogStarts
from tidemark.nodes.core.events import RetentionDue, ShutdownRequested
from tidemark.nodes.core.messages import (
    ConsumeRequest,
    ConsumeResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    FetchRequest,
    FetchResponse,
    HeartbeatReply,
)

T = "t-0"
MS = 1_000
OLD_RULES = ["kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1"]


@pytest.fixture(scope="session")
def leader(broker, batch):
    """Broker 1 leads epoch 5 with offsets 0-2 (epoch 1, one batch) and 3-4 (epoch 2), all committed; 2 and 3 follow."""

    def start(variant="kafka-2.7", *, hw=5, **settings):
        one = broker(variant, batches=[batch(0, 1, 70, 71, 72), batch(3, 2, 73, 74)], hw=hw, **settings)
        one.lead(0, 5)
        return one

    return start


@pytest.fixture(scope="session")
def follower(broker, batch):
    """Broker 2 with offsets 0-1 of epoch 1, both committed, follows broker 1 in epoch 5 and has a fetch out."""

    def start(variant="kafka-2.7", *, batches=None, hw=2, **kwargs):
        batches = [batch(0, 1, 70), batch(1, 1, 71)] if batches is None else batches
        two = broker(variant, node=2, batches=batches, hw=hw, **kwargs)
        two.told(0, 1, 5)
        return two

    return start


def delete(one, now, offset, correlation=1):
    return one.step(now, DeleteRecordsRequest(400, T, offset, correlation))


def deletions(one):
    """(low watermark, error) of the answers to those who delete."""
    return [(m.low_watermark, m.error) for m in one.sent(DeleteRecordsResponse, to=400)]


def got(two, now, *batches, hw=0, leo=9, start=0, error=None):
    """The leader answers the fetch that is out."""
    correlation = two.replica.following.in_flight
    return two.step(now, FetchResponse(1, T, correlation, list(batches), hw, leo, error, None, start))


def fetches(two):
    return [(m.offset, m.last_fetched_epoch, m.start) for m in two.sent(FetchRequest, to=1)]


def log(one):
    return one.replica.log.start, one.replica.log.leo, [b.base for b in one.replica.log.batches]


# A client deletes


def test_the_log_start_moves_and_the_batches_stay(leader):
    one = leader()
    delete(one, 1, 2)

    assert one.traced("log-start") == [(2, 0, "delete-records")]
    assert log(one) == (2, 5, [0, 3])
    assert one.done(DropBefore) == []


def test_the_epochs_below_go_with_the_records(leader):
    one = leader()
    delete(one, 1, 4)

    assert one.done(WriteEpochs) == [WriteEpochs(T, ((2, 4), (5, 5)))]


def test_minus_one_is_the_high_watermark(leader):
    one = leader(hw=3)
    delete(one, 1, -1)

    assert log(one)[0] == 3


@pytest.mark.parametrize("offset", [4, -2])
def test_beyond_the_high_watermark_nothing_is_deleted(leader, offset):
    one = leader(hw=3)
    delete(one, 1, offset)

    assert deletions(one) == [(-1, "OFFSET_OUT_OF_RANGE")]
    assert one.traced("log-start") == []


def test_a_log_start_never_moves_back(leader):
    one = leader()
    delete(one, 1, 4)
    delete(one, 2, 1)

    assert one.traced("log-start") == []
    assert log(one)[0] == 4


def test_it_is_answered_when_all_live_replicas_have_followed(leader):
    one = leader()
    delete(one, 1, 4)
    assert deletions(one) == []

    one.fetched_by(2, 2, 5, 5, last=5, start=4)
    assert deletions(one) == []

    one.fetched_by(3, 3, 5, 5, last=5, start=4)
    assert deletions(one) == [(4, None)]


def test_a_replica_that_is_not_live_is_not_waited_for(leader):
    one = leader()
    one.lead(1, 6, isr=(1, 2), eligible=(1, 2))
    delete(one, 2, 4)
    one.fetched_by(3, 2, 5, 6, last=6, start=4)

    assert deletions(one) == [(4, None)]


def test_what_is_deleted_already_is_answered_at_once(leader):
    one = leader()
    one.fetched_by(1, 2, 5, 5, last=5, start=4)
    one.fetched_by(2, 3, 5, 5, last=5, start=4)
    delete(one, 3, 4)

    assert deletions(one) == [(4, None)]


def test_a_deletion_that_nobody_follows_times_out(leader):
    one = leader()
    delete(one, 0, 4)
    one.tick(1_499 * MS)
    assert deletions(one) == []

    one.tick(1_500 * MS)
    assert deletions(one) == [(-1, "REQUEST_TIMED_OUT")]
    one.tick(1_600 * MS)
    assert deletions(one) == []


def test_a_leader_that_is_deposed_says_so_though_it_has_deleted(leader):
    one = leader()
    delete(one, 1, 4)
    one.told(2, 2, 6)

    assert deletions(one) == [(-1, "NOT_LEADER_OR_FOLLOWER")]
    assert log(one)[0] == 4


def test_a_follower_deletes_for_nobody(follower):
    two = follower()
    delete(two, 1, 1)

    assert deletions(two) == [(-1, "NOT_LEADER_OR_FOLLOWER")]
    assert two.replica.log.start == 0


def test_a_broker_without_the_partition_deletes_nothing(broker):
    one = broker()
    delete(one, 1, 1)

    assert deletions(one) == [(-1, "NOT_LEADER_OR_FOLLOWER")]


def test_before_kip_107_nobody_can_ask(leader):
    one = leader("kafka-0.10")
    delete(one, 1, 2)

    assert deletions(one) == [(-1, "UNSUPPORTED_VERSION")]
    assert log(one)[0] == 0


# Retention


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


# Followers hear of it


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


# Below the leader's log start


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


# The leader's log start lies inside a batch


def began_at_4(follower, variant="kafka-2.7"):
    two = follower(variant)
    got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=9, start=4)
    return two


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


# KAFKA-9491: elected with a high watermark below the log start


@pytest.fixture(scope="session")
def elected_anew(broker):
    """Broker 2 began anew at offset 4, and was elected before it heard of a high watermark."""

    def start(variant):
        two = broker(variant, node=2)
        two.told(0, 1, 5)
        got(two, 1, error="OFFSET_OUT_OF_RANGE", leo=4, start=4)
        two.lead(2, 6, isr=(2, 3))
        return two

    return start


def test_it_leads_with_the_log_start_as_its_high_watermark(elected_anew):
    two = elected_anew("kafka-2.7")
    assert two.traced("lead") == [(6, 4, 4, (2, 3))]

    two.produced(3, 74)
    two.fetched_by(4, 3, 5, 6, last=6)
    assert two.traced("hw") == [(5, 6, True)]


def test_with_the_bug_it_can_never_commit(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    assert two.traced("lead") == [(6, 4, 0, (2, 3))]

    two.produced(3, 74)
    two.fetched_by(4, 3, 5, 6, last=6)
    assert two.traced("hw") == []
    assert [m.error for m in two.sent(FetchResponse, to=3)] == ["OFFSET_OUT_OF_RANGE"]


def test_with_the_bug_nobody_can_read(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    two.step(3, ConsumeRequest(200, T, 4, 1))

    assert [m.error for m in two.sent(ConsumeResponse)] == ["OFFSET_OUT_OF_RANGE"]


def test_with_the_bug_followers_still_get_records(elected_anew):
    two = elected_anew("kafka-2.7+KAFKA-9491")
    two.produced(3, 74)
    two.fetched_by(4, 3, 4, 6)

    assert [len(m.batches) for m in two.sent(FetchResponse, to=3)] == [1]


# Consumers


@pytest.mark.parametrize(("offset", "error", "values"), [(2, "OFFSET_OUT_OF_RANGE", []), (3, None, [73, 74])])
def test_a_consumer_reads_from_the_log_start_on(leader, offset, error, values):
    one = leader()
    delete(one, 1, 3)
    one.step(2, ConsumeRequest(200, T, offset, 1))

    (answer,) = one.sent(ConsumeResponse)
    assert (answer.error, [value for _, value in answer.records], answer.start) == (error, values, 3)


def test_a_consumer_gets_only_what_lies_above_in_a_batch_that_reaches_across(leader):
    one = leader()
    delete(one, 1, 4)
    one.step(2, ConsumeRequest(200, T, 4, 1))

    assert [m.records for m in one.sent(ConsumeResponse)] == [[(4, 74)]]


# The checkpoint


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
