"""ListOffsets and OffsetForLeaderEpoch."""

import pytest
from kio.index import load_payload_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from tidemark.nodes.formats.record_batch import build

LATEST, EARLIEST = -1, -2


def list_offsets(broker, timestamp, version=5, epoch=-1, partition=0):
    m = load_payload_module(2, version, EntityType.request)
    more = {"current_leader_epoch": epoch} if version >= 4 else {}
    whole = {"isolation_level": 1} if version >= 2 else {}
    one = m.ListOffsetsPartition(partition_index=partition, timestamp=timestamp, **more)
    entity = m.ListOffsetsRequest(replica_id=-1, topics=(m.ListOffsetsTopic(name="t", partitions=(one,)),), **whole)
    found = broker.ask(2, version, entity).answer.topics[0].partitions[0]
    return found.error_code, found.offset, found.timestamp


def epoch_end(broker, epoch, version=3, current=-1):
    m = load_payload_module(23, version, EntityType.request)
    whole = {"replica_id": -1} if version >= 3 else {}
    one = m.OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    topic = m.OffsetForLeaderTopic(topic="t", partitions=(one,))
    found = broker.ask(23, version, m.OffsetForLeaderEpochRequest(topics=(topic,), **whole)).answer.topics[0]
    return found.partitions[0].error_code, found.partitions[0].leader_epoch, found.partitions[0].end_offset


@pytest.fixture
def leader(node):
    broker = node()
    broker.lead()
    return broker


@pytest.mark.parametrize("version", range(1, 6))
def test_the_end_is_the_high_watermark(leader, version):
    leader.produce([0, 1], acks=1)
    leader.commit()
    leader.produce([2], acks=1)

    assert list_offsets(leader, LATEST, version) == (ErrorCode.none, 2, -1)
    assert list_offsets(leader, EARLIEST, version) == (ErrorCode.none, 0, -1)


def test_the_first_batch_that_is_not_older(leader):
    for at in (1_000, 2_000, 3_000, 4_000):
        leader.produce(build([at, at], timestamp_ms=at), acks=1)
        if at == 3_000:
            leader.commit()

    assert list_offsets(leader, 0) == (ErrorCode.none, 0, 1_000)
    assert list_offsets(leader, 1_001) == (ErrorCode.none, 2, 2_000)
    assert list_offsets(leader, 3_000) == (ErrorCode.none, 4, 3_000)
    assert list_offsets(leader, 3_001) == (ErrorCode.none, -1, -1)


def test_other_marks_are_not_known(leader):
    assert list_offsets(leader, -3)[0] == ErrorCode.unsupported_version


def test_list_offsets_is_fenced_from_version_four_on(leader):
    leader.lead(5)

    assert list_offsets(leader, LATEST, 4, epoch=4)[0] == ErrorCode.fenced_leader_epoch
    assert list_offsets(leader, LATEST, 5, epoch=6)[0] == ErrorCode.unknown_leader_epoch
    assert list_offsets(leader, LATEST, 5, epoch=5)[0] == ErrorCode.none


def test_a_follower_lists_nothing(leader):
    leader.told(2, 1)

    assert list_offsets(leader, LATEST) == (ErrorCode.not_leader_or_follower, -1, -1)
    assert list_offsets(leader, LATEST, partition=7)[0] == ErrorCode.unknown_topic_or_partition


def test_a_new_leader_names_no_end_below_its_epochs_start(node):
    """KIP-207: consumers saw a higher one under the leader before."""
    broker = node()
    broker.told(2, 0)
    broker.appended_by_leader([0])
    broker.lead(1)

    assert list_offsets(broker, LATEST, 5)[0] == ErrorCode.offset_not_available
    assert list_offsets(broker, LATEST, 4)[0] == ErrorCode.leader_not_available
    assert list_offsets(broker, EARLIEST)[0] == ErrorCode.none
    broker.commit()
    assert list_offsets(broker, LATEST) == (ErrorCode.none, 1, -1)


def test_before_kip_320_it_names_what_it_has(node):
    broker = node("kafka-2.0")
    broker.told(2, 0)
    broker.appended_by_leader([0])
    broker.lead(1)

    assert list_offsets(broker, LATEST, 3) == (ErrorCode.none, 0, -1)


@pytest.mark.parametrize("version", [2, 3])
def test_an_epoch_ends_where_the_next_begins(leader, version):
    leader.produce([0, 1], acks=1)
    leader.lead(3)
    leader.produce([2], acks=1)

    assert epoch_end(leader, 0, version) == (ErrorCode.none, 0, 2)
    assert epoch_end(leader, 2, version) == (ErrorCode.none, 0, 2)
    assert epoch_end(leader, 3, version) == (ErrorCode.none, 3, 3)
    assert epoch_end(leader, 4, version) == (ErrorCode.none, -1, -1)


def test_offset_for_leader_epoch_is_fenced(leader):
    leader.lead(5)

    assert epoch_end(leader, 0, current=4) == (ErrorCode.fenced_leader_epoch, -1, -1)
    assert epoch_end(leader, 0, current=6)[0] == ErrorCode.unknown_leader_epoch
    leader.told(2, 6)
    assert epoch_end(leader, 0)[0] == ErrorCode.not_leader_or_follower


def test_without_the_truncation_fence_it_is_not(node):
    broker = node("kafka-2.1+no-truncation-fence")
    broker.lead(5)

    assert epoch_end(broker, 5, current=4) == (ErrorCode.none, 5, 0)
