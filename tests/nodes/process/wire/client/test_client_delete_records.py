"""DeleteRecords, and what the other APIs say of a log that does not begin at 0."""

from datetime import timedelta

import pytest
from kio.index import load_payload_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from tidemark.nodes.core.events import RetentionDue
from tidemark.nodes.core.messages import FetchRequest
from tidemark.nodes.formats.record_batch import build, split, values_of

T = "t-0"
LATEST, EARLIEST = -1, -2


def delete(broker, *offsets, version=2, topic="t"):
    """One offset per partition, from 0 on."""
    m = load_payload_module(21, version, EntityType.request)
    each = tuple(m.DeleteRecordsPartition(partition_index=i, offset=offset) for i, offset in enumerate(offsets))
    topics = (m.DeleteRecordsTopic(name=topic, partitions=each),)
    return broker.ask(21, version, m.DeleteRecordsRequest(topics=topics, timeout=timedelta(seconds=1)))


def results(request):
    """(error, low watermark) of each partition."""
    return [(part.error_code, part.low_watermark) for topic in request.answer.topics for part in topic.partitions]


def fetched_with_start(broker, start, *followers, partition=T):
    """Followers have everything, and their log starts have followed."""
    replica = broker.replica(partition)
    for source in followers:
        broker.step(
            FetchRequest(
                source, partition, replica.log.leo, replica.leader_epoch, replica.cache.latest, 20 + source, 1, start
            )
        )


@pytest.fixture
def leader(node):
    """Offsets 0–1, 2–3, 4–5; all committed but the last two."""
    broker = node()
    broker.lead()
    for first in (0, 2):
        broker.produce([first, first + 1], acks=1)
    broker.commit()
    broker.produce([4, 5], acks=1)
    return broker


@pytest.mark.parametrize("version", range(3))
def test_a_deletion_is_answered_when_all_log_starts_have_followed(leader, version):
    asked = delete(leader, 3, version=version)
    fetched_with_start(leader, 3, 2)
    assert not asked.answered
    fetched_with_start(leader, 3, 3)

    assert results(asked) == [(ErrorCode.none, 3)]
    assert leader.replica().log.start == 3


def test_minus_one_is_the_high_watermark(leader):
    asked = delete(leader, -1)
    fetched_with_start(leader, 4, 2, 3)

    assert results(asked) == [(ErrorCode.none, 4)]


@pytest.mark.parametrize("offset", [5, 6, 2**62, -2])
def test_nothing_beyond_the_high_watermark_is_deleted(leader, offset):
    assert results(delete(leader, offset)) == [(ErrorCode.offset_out_of_range, -1)]
    assert leader.replica().log.start == 0


def test_a_deletion_of_what_is_deleted_is_answered_with_the_low_watermark(leader):
    delete(leader, 3)
    fetched_with_start(leader, 3, 2, 3)

    assert results(delete(leader, 1)) == [(ErrorCode.none, 3)]


def test_who_does_not_lead_deletes_nothing(node):
    broker = node()
    broker.told(2, 0)

    assert results(delete(broker, 0)) == [(ErrorCode.not_leader_or_follower, -1)]


def test_a_partition_that_there_is_not(leader):
    assert results(delete(leader, 0, topic="nobody")) == [(ErrorCode.unknown_topic_or_partition, -1)]


def test_partitions_of_one_request_share_a_response(leader):
    leader.lead(partition="t-1")
    leader.produce([7], acks=1, partition=1)
    leader.commit("t-1")
    asked = delete(leader, 2, 1)
    fetched_with_start(leader, 1, 2, 3, partition="t-1")
    assert not asked.answered
    fetched_with_start(leader, 2, 2, 3)

    assert results(asked) == [(ErrorCode.none, 2), (ErrorCode.none, 1)]
    assert not leader.apis._deletions._waiting


def test_a_request_for_nothing_is_answered(leader):
    assert results(delete(leader)) == []


def test_a_deposed_leader_says_so(leader):
    asked = delete(leader, 3)
    leader.told(2, 1)

    assert results(asked) == [(ErrorCode.not_leader_or_follower, -1)]


def test_before_kip_107_there_is_no_such_api(node):
    assert 21 not in node("kafka-0.10").apis.handlers
    assert 21 in node("kafka-0.11").apis.handlers


def fetched(request):
    (part,) = request.answer.responses[0].partitions
    return part.error_code, part.log_start_offset, [v for raw in split(part.records or b"") for v in values_of(raw)]


@pytest.mark.parametrize("version", range(5, 12))
def test_consumers_are_told_the_log_start(leader, version):
    delete(leader, 1)

    assert fetched(leader.fetch(1, version)) == (ErrorCode.none, 1, [0, 1, 2, 3])
    assert fetched(leader.fetch(0, version)) == (ErrorCode.offset_out_of_range, -1, [])


def test_the_earliest_offset_is_the_log_start(leader):
    delete(leader, 3)

    assert list_offsets(leader, EARLIEST) == (ErrorCode.none, 3)
    assert list_offsets(leader, LATEST) == (ErrorCode.none, 4)


def test_no_time_leads_to_a_deleted_record(node):
    broker = node()
    broker.lead()
    for at in (1_000, 2_000):
        broker.produce(build([at, at], timestamp_ms=at), acks=1)
    broker.commit()
    delete(broker, 1)
    assert list_offsets(broker, 1) == (ErrorCode.none, 1)
    delete(broker, 2)

    assert list_offsets(broker, 1) == (ErrorCode.none, 2)


def list_offsets(broker, timestamp, version=5):
    m = load_payload_module(2, version, EntityType.request)
    one = m.ListOffsetsPartition(partition_index=0, timestamp=timestamp, current_leader_epoch=-1)
    topic = m.ListOffsetsTopic(name="t", partitions=(one,))
    (found,) = broker.ask(
        2, version, m.ListOffsetsRequest(replica_id=-1, topics=(topic,), isolation_level=0)
    ).answer.topics
    return found.partitions[0].error_code, found.partitions[0].offset


@pytest.mark.parametrize("version", range(5, 9))
def test_producers_are_told_the_log_start(leader, version):
    delete(leader, 3)
    asked = leader.produce([6], acks=1, version=version)

    assert asked.answer.responses[0].partition_responses[0].log_start_offset == 3


def test_under_kafka_9491_a_log_start_above_the_high_watermark_puts_every_consumer_out_of_range(node):
    for variant, error in (("kafka-2.7", ErrorCode.none), ("kafka-2.7+KAFKA-9491", ErrorCode.offset_out_of_range)):
        broker = node(variant)
        broker.lead()
        broker.produce([0, 1], acks=1)
        replica = broker.replica()
        replica.log.start = 1
        replica.hw = 1 if error is ErrorCode.none else 0

        assert fetched(broker.fetch(1, wait=0))[0] == error


def written(broker, sequence, count=1):
    raw = build(range(count), producer_id=77, producer_epoch=0, base_sequence=sequence)
    (part,) = broker.produce(raw, acks=1).answer.responses[0].partition_responses
    return part.error_code, part.base_offset


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_a_producer_is_known_after_its_batches_were_dropped(node, dropped):
    broker = node()
    broker.lead()
    for sequence in range(3):
        written(broker, sequence)
    broker.commit()
    broker.step(RetentionDue(T, dropped))
    assert len(broker.replica().log.batches) == 3 - dropped

    assert [written(broker, 2), written(broker, 3)] == [(ErrorCode.none, 2), (ErrorCode.none, 3)]
    broker.commit()
    broker.step(RetentionDue(T, 9))
    assert written(broker, 5)[0] == ErrorCode.out_of_order_sequence_number


def test_but_not_after_its_batches_were_cut(node):
    broker = node()
    broker.lead()
    for sequence in range(3):
        written(broker, sequence)
    broker.commit()
    broker.told(2, 1)
    broker.perform(lambda now: broker.replica().cut(now, 0, "a test"))
    for value in range(4):
        broker.appended_by_leader([value])
    broker.lead(2)
    broker.commit()
    broker.step(RetentionDue(T, 4))
    assert broker.replica().log.base == 4

    assert written(broker, 7) == (ErrorCode.none, 4)
