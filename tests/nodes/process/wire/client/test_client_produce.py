"""Produce: what is taken, what is refused, and when the answer comes."""

import pytest
from kio.schema.errors import ErrorCode

from tidemark.nodes.formats.record_batch import build, read_header


def results(request):
    """Partition → (error, base offset)."""
    return {
        (topic.name, part.index): (part.error_code, part.base_offset)
        for topic in request.answer.responses
        for part in topic.partition_responses
    }


def result(request):
    (only,) = results(request).values()
    return only


@pytest.mark.parametrize("version", range(3, 9))
def test_acks_all_is_answered_when_the_batch_is_committed(node, version):
    broker = node()
    broker.lead()
    asked = broker.produce([7, 8], version=version)
    assert not asked.answered
    broker.commit()

    assert result(asked) == (ErrorCode.none, 0)


def test_acks_one_is_answered_at_once(node):
    broker = node()
    broker.lead()
    first, second = broker.produce([7, 8], acks=1), broker.produce([9], acks=1)

    assert (result(first), result(second)) == ((ErrorCode.none, 0), (ErrorCode.none, 2))


def test_acks_zero_gets_no_response(node):
    broker = node()
    broker.lead()
    asked = broker.produce([7], acks=0)

    assert (asked.answered, asked.answer, asked.connection.refused) == (True, None, "")
    assert broker.replica().log.leo == 1
    assert not broker.apis._produce._waiting


def test_acks_zero_refused_ends_the_connection(node):
    broker = node()
    broker.told(2, 0)
    asked = broker.produce([7], acks=0)

    assert asked.answer is None
    assert "NOT_LEADER_OR_FOLLOWER" in asked.connection.refused
    assert not broker.apis._produce._waiting


def test_the_batch_in_the_log_is_the_clients_with_offset_and_epoch(node):
    broker = node()
    broker.lead(epoch=4)
    broker.produce([1], acks=1)
    broker.produce(build([7, 8], timestamp_ms=1_700_000_000_123), acks=1)
    raw = broker.replica().log.batches[1].values.raw()

    assert raw == build([7, 8], base=1, epoch=4, timestamp_ms=1_700_000_000_123)


def test_partitions_of_one_request_share_a_response(node):
    broker = node()
    broker.lead(partition="t-0")
    broker.lead(partition="t-1")
    asked = broker.produce([1], [2, 3])
    broker.commit("t-1")
    assert not asked.answered
    broker.commit("t-0")

    assert results(asked) == {("t", 0): (ErrorCode.none, 0), ("t", 1): (ErrorCode.none, 0)}


def test_one_refused_partition_does_not_hold_up_another(node):
    broker = node()
    broker.lead(partition="t-0")
    broker.told(2, 0, partition="t-1")
    asked = broker.produce([1], [2], acks=1)

    assert results(asked) == {("t", 0): (ErrorCode.none, 0), ("t", 1): (ErrorCode.not_leader_or_follower, -1)}


def test_a_request_without_partitions_is_answered(node):
    broker = node()

    assert broker.produce_parts([]).answer.responses == ()


@pytest.mark.parametrize(("topic", "partition"), [("u", 0), ("t", 2), ("t", -1), ("t-0", 0)])
def test_there_are_only_the_clusters_partitions(node, topic, partition):
    broker = node()
    broker.lead()

    assert result(broker.produce([1], topic=topic, partition=partition)) == (ErrorCode.unknown_topic_or_partition, -1)


def test_a_partition_nobody_told_of_has_its_leader_elsewhere(node):
    assert result(node().produce([1])) == (ErrorCode.not_leader_or_follower, -1)


def test_too_small_an_isr_refuses_acks_all(node):
    broker = node()
    broker.lead(isr=(1,))

    assert result(broker.produce([1])) == (ErrorCode.not_enough_replicas, -1)
    assert result(broker.produce([1], acks=1)) == (ErrorCode.none, 0)


def test_an_outcome_that_stays_open_times_out(node):
    broker = node(produce_timeout_us=1_500_000)
    broker.lead()
    asked = broker.produce([1])
    broker.tick(1_499_999)
    assert not asked.answered
    broker.tick(1_500_000)

    assert result(asked) == (ErrorCode.request_timed_out, -1)


def test_a_deposed_leader_does_not_know(node):
    broker = node()
    broker.lead()
    asked = broker.produce([1])
    broker.told(2, 1)

    assert result(asked) == (ErrorCode.request_timed_out, -1)


GOOD = build([7])


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (None, ErrorCode.invalid_record),
        (b"", ErrorCode.invalid_record),
        (GOOD + GOOD, ErrorCode.invalid_record),
        (build([7], base=1), ErrorCode.invalid_record),
        (GOOD[:-1], ErrorCode.corrupt_message),
        (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), ErrorCode.corrupt_message),
        (GOOD[:30], ErrorCode.corrupt_message),
        (GOOD[:16] + b"\x01" + GOOD[17:], ErrorCode.unsupported_for_message_format),
        (build([10**15] * 60_000), ErrorCode.message_too_large),
    ],
    ids=["null", "empty", "two", "offset", "short", "bit flip", "header cut", "magic 1", "large"],
)
def test_a_bad_batch_is_refused_and_not_appended(node, raw, error):
    broker = node()
    broker.lead()
    asked = broker.produce_parts([("t", 0, raw)])

    assert result(asked) == (error, -1)
    assert broker.replica().log.leo == 0


def test_the_largest_batch(node):
    broker = node()
    broker.lead()
    raw = build([10**14] * 43_000)
    assert 1_000_000 < len(raw) <= 1_048_588

    assert result(broker.produce(raw, acks=1)) == (ErrorCode.none, 0)


def test_transactions_are_refused(node):
    from crc32c import crc32c

    broker = node()
    broker.lead()
    raw = bytearray(build([7], producer_id=5, producer_epoch=0, base_sequence=0))
    raw[22] |= 0x10
    raw[17:21] = crc32c(bytes(raw[21:])).to_bytes(4, "big")
    assert read_header(bytes(raw)).attributes == 0x10

    assert result(broker.produce(bytes(raw))) == (ErrorCode.invalid_txn_state, -1)


@pytest.mark.parametrize("acks", [2, -2])
def test_acks_are_minus_one_zero_or_one(node, acks):
    broker = node()
    broker.lead()

    assert result(broker.produce([1], acks=acks)) == (ErrorCode.invalid_required_acks, -1)
    assert broker.replica().log.leo == 0
