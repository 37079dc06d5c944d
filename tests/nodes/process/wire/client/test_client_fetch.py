"""Fetch for consumers: what is committed, whole batches, and waiting for more."""

import pytest
from kio.schema.errors import ErrorCode

from tidemark.nodes.formats.record_batch import build, split, values_of


def parts(request):
    """(error, HW, values) of each partition."""
    return [
        (part.error_code, part.high_watermark, [v for raw in split(part.records) for v in values_of(raw)])
        for topic in request.answer.responses
        for part in topic.partitions
    ]


def part(request):
    (only,) = parts(request)
    return only


@pytest.fixture
def leader(node):
    broker = node()
    broker.lead()
    return broker


@pytest.fixture
def three_batches(leader):
    """Offsets 0–1, 2–3, 4–5; all committed."""
    for first in (0, 2, 4):
        leader.produce([first, first + 1], acks=1)
    leader.commit()
    return leader


@pytest.mark.parametrize("version", range(4, 12))
def test_committed_records_in_every_version(three_batches, version):
    asked = three_batches.fetch(0, version)

    assert part(asked) == (ErrorCode.none, 6, [0, 1, 2, 3, 4, 5])


def test_the_bytes_are_those_of_the_log(three_batches):
    records = three_batches.fetch(2).answer.responses[0].partitions[0].records

    assert records == build([2, 3], base=2, epoch=0) + build([4, 5], base=4, epoch=0)


def test_an_offset_within_a_batch_gives_the_whole_batch(three_batches):
    assert part(three_batches.fetch(3)) == (ErrorCode.none, 6, [2, 3, 4, 5])


def test_nothing_beyond_the_high_watermark(leader):
    leader.produce([0, 1], acks=1)
    leader.commit()
    leader.produce([2, 3], acks=1)

    assert part(leader.fetch(0)) == (ErrorCode.none, 2, [0, 1])


def test_a_batch_that_straddles_the_high_watermark_stays_back(leader):
    leader.produce([0, 1], acks=1)
    leader.replica().hw = 1

    assert part(leader.fetch(0, wait=0)) == (ErrorCode.none, 1, [])


@pytest.mark.parametrize("offset", [7, 2**62, -1])
def test_out_of_range(three_batches, offset):
    assert part(three_batches.fetch(offset)) == (ErrorCode.offset_out_of_range, -1, [])


def test_between_high_watermark_and_log_end_a_consumer_waits(leader):
    leader.produce([0], acks=1)
    waiting = [leader.fetch(0), leader.fetch(1)]
    assert [w.answered for w in waiting] == [False, False]
    leader.produce([1], acks=1)
    leader.commit()

    assert [part(w) for w in waiting] == [(ErrorCode.none, 2, [0, 1]), (ErrorCode.none, 2, [1])]


def test_limits_count_whole_batches_and_give_at_least_one(three_batches):
    size = len(build([0, 1]))

    assert part(three_batches.fetch(0, partition_max_bytes=1))[2] == [0, 1]
    assert part(three_batches.fetch(0, max_bytes=1))[2] == [0, 1]
    assert part(three_batches.fetch(0, max_bytes=0))[2] == [0, 1]
    assert part(three_batches.fetch(0, partition_max_bytes=2 * size))[2] == [0, 1, 2, 3]
    assert part(three_batches.fetch(0, max_bytes=3 * size - 1))[2] == [0, 1, 2, 3]


def test_the_second_partition_gets_what_the_first_leaves(node):
    broker = node()
    size = len(build([0]))
    for partition in ("t-0", "t-1"):
        broker.lead(partition=partition)
    broker.produce([0], [5], acks=1)
    broker.commit("t-0")
    broker.commit("t-1")

    assert [p[2] for p in parts(broker.fetch(0, partitions=(0, 1), max_bytes=size))] == [[0], []]
    assert [p[2] for p in parts(broker.fetch(0, partitions=(0, 1), max_bytes=2 * size))] == [[0], [5]]


def test_an_empty_partition_first_does_not_cost_the_one_batch(node):
    broker = node()
    for partition in ("t-0", "t-1"):
        broker.lead(partition=partition)
    broker.produce([5], acks=1, partition=1)
    broker.commit("t-1")

    assert [p[2] for p in parts(broker.fetch(0, partitions=(0, 1), max_bytes=1))] == [[], [5]]


def test_min_bytes_are_waited_for(leader):
    size = len(build([0]))
    waiting = leader.fetch(0, min_bytes=2 * size)
    leader.produce([0], acks=1)
    leader.commit()
    assert not waiting.answered
    leader.produce([1], acks=1)
    leader.commit()

    assert part(waiting)[2] == [0, 1]
    assert leader.loop.waiting == []


def test_min_bytes_above_the_most_that_is_ever_sent_are_lowered(leader):
    waiting = leader.fetch(0, min_bytes=2**31 - 1, max_bytes=50)
    leader.produce([0], acks=1)
    leader.commit()

    assert part(waiting)[2] == [0]


def test_when_the_time_is_over_there_is_what_there_is(leader):
    waiting = leader.fetch(0, min_bytes=10_000, wait=250)
    leader.produce([0], acks=1)
    leader.commit()
    (timer,) = leader.loop.waiting
    assert timer.delay == 0.25
    timer.run()

    assert part(waiting) == (ErrorCode.none, 1, [0])
    assert leader.apis._fetch._parked == {}


@pytest.mark.parametrize("wait", [0, -1])
def test_no_time_no_wait(leader, wait):
    assert part(leader.fetch(0, wait=wait)) == (ErrorCode.none, 0, [])


def test_a_request_for_nothing_is_answered(leader):
    assert leader.fetch(0, partitions=()).answer.responses == ()


def test_a_closed_connection_waits_for_nothing(leader, connection):
    gone, stays = connection(), connection()
    leader.fetch(0, connection=gone)
    waiting = leader.fetch(0, connection=stays)
    leader.apis.on_closed(gone)
    assert len(leader.loop.waiting) == 1
    leader.produce([0], acks=1)
    leader.commit()

    assert part(waiting)[2] == [0]
    assert leader.apis._fetch._parked == {}


def test_a_connection_that_closed_before_its_turn_came_is_not_waited_for(leader, connection):
    gone = connection()
    gone.closed = True

    assert not leader.fetch(0, connection=gone).answered
    assert leader.apis._fetch._parked == {}
    assert leader.loop.waiting == []


def test_nothing_is_read_while_a_step_waits_for_the_disk(three_batches):
    """The core is ahead of files and trace then; nobody outside may see that."""
    three_batches.held = []
    asked = three_batches.fetch(0)
    assert not asked.answered
    three_batches.go_on()

    assert part(asked)[2] == [0, 1, 2, 3, 4, 5]


def test_current_epoch_must_be_the_leaders(leader):
    leader.lead(5)

    assert part(leader.fetch(0, epoch=4)) == (ErrorCode.fenced_leader_epoch, -1, [])
    assert part(leader.fetch(0, epoch=6)) == (ErrorCode.unknown_leader_epoch, -1, [])
    assert not leader.fetch(0, epoch=5).answered
    assert not leader.fetch(0, epoch=-1).answered


def test_a_follower_serves_no_consumer(leader):
    leader.told(2, 1)

    assert part(leader.fetch(0)) == (ErrorCode.not_leader_or_follower, -1, [])
    assert part(leader.fetch(0, epoch=1)) == (ErrorCode.not_leader_or_follower, -1, [])


@pytest.mark.parametrize("leader_then", [1, 2])
def test_a_parked_fetch_learns_of_a_new_leader_epoch(leader, leader_then):
    waiting = leader.fetch(0, epoch=0)
    leader.told(leader_then, 1)

    assert part(waiting) == (ErrorCode.fenced_leader_epoch, -1, [])


@pytest.mark.parametrize("version", [8, 11])
def test_a_parked_fetch_without_epoch_learns_that_the_leader_is_another(leader, version):
    waiting = leader.fetch(0, version)
    leader.told(2, 1)

    assert part(waiting) == (ErrorCode.not_leader_or_follower, -1, [])


def test_a_parked_fetch_without_epoch_stays_with_a_leader_that_is_elected_again(leader):
    waiting = leader.fetch(0)
    leader.lead(1)
    assert not waiting.answered
    leader.produce([0], acks=1)
    leader.commit()

    assert part(waiting)[2] == [0]


def test_unknown_partitions(leader):
    assert part(leader.fetch(0, partitions=(2,)))[0] == ErrorCode.unknown_topic_or_partition
    assert part(leader.fetch(0, partitions=(1,)))[0] == ErrorCode.not_leader_or_follower


def test_an_error_in_one_partition_is_told_at_once(leader):
    asked = leader.fetch(0, partitions=(0, 1))

    assert [p[0] for p in parts(asked)] == [ErrorCode.none, ErrorCode.not_leader_or_follower]


@pytest.mark.parametrize("epoch", [-1, 0])
def test_a_full_fetch_gets_no_session(three_batches, epoch):
    answer = three_batches.fetch(0, session_epoch=epoch).answer

    assert (answer.error_code, answer.session_id) == (ErrorCode.none, 0)


def test_there_is_no_session_to_go_on_with(three_batches):
    answer = three_batches.fetch(0, session_id=9, session_epoch=1).answer

    assert (answer.error_code, answer.responses) == (ErrorCode.fetch_session_id_not_found, ())


def test_nothing_was_aborted(three_batches):
    def aborted(level):
        return three_batches.fetch(0, isolation_level=level).answer.responses[0].partitions[0].aborted_transactions

    assert aborted(0) is None
    assert aborted(1) == ()
