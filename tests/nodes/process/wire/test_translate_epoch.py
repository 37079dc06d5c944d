from io import BytesIO

import pytest
from kio.schema.offset_for_leader_epoch.v4 import request as kafkas
from kio.serial import entity_writer

from tidemark.nodes.core.epoch_cache import NO_EPOCH_END, EpochEnd
from tidemark.nodes.core.messages import UNKNOWN_LEADER_EPOCH, EpochRequest, EpochResponse
from tidemark.nodes.core.truncation import RULES
from tidemark.nodes.core.truncation.lineage import NONE_KNOWN
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.formats.wire.shape import walker
from tidemark.nodes.process.wire import translate_epoch

ASKED = EpochRequest(2, "t-1", 4, 5, 1 << 40)
LINEAGE = (EpochEnd(0, 3), EpochEnd(4, 1 << 33))


@pytest.mark.parametrize("version", [3, 4])
def test_a_question_arrives(body_bytes, version):
    body = body_bytes(23, version, translate_epoch.request(ASKED, version))
    entity = codec(23, version).read_request(body, 0)
    assert translate_epoch.message(entity, version, 7) == EpochRequest(2, "t-1", 4, 5, 7)


def test_a_lineage_arrives(body_bytes):
    asked = EpochRequest(2, "t-1", 4, 5, 1 << 40, LINEAGE)
    entity = codec(23, 4).read_request(body_bytes(23, 4, translate_epoch.request(asked, 4)), 0)
    assert translate_epoch.message(entity, 4, 7) == EpochRequest(2, "t-1", 4, 5, 7, LINEAGE)


def test_without_a_lineage_it_is_kafkas_version_4(body_bytes):
    part = kafkas.OffsetForLeaderPartition(partition=1, current_leader_epoch=5, leader_epoch=4)
    topics = (kafkas.OffsetForLeaderTopic(topic="t", partitions=(part,)),)
    out = BytesIO()
    entity_writer(kafkas.OffsetForLeaderEpochRequest)(
        out, kafkas.OffsetForLeaderEpochRequest(replica_id=2, topics=topics)
    )
    assert body_bytes(23, 4, translate_epoch.request(ASKED, 4)) == out.getvalue()


def test_a_lineage_can_be_skipped_as_the_tagged_field_that_it_is(body_bytes):
    body = body_bytes(23, 4, translate_epoch.request(EpochRequest(2, "t-1", 4, 5, 1, LINEAGE), 4))
    assert walker(kafkas.OffsetForLeaderEpochRequest)(body, 0) == len(body)


@pytest.mark.parametrize(("items", "why"), [(1, "tagged field 10000 is not"), (8, "too early")])
def test_a_lineage_of_another_length_than_its_field_is_refused(body_bytes, items, why):
    asked = EpochRequest(2, "t-1", 4, 5, 1, LINEAGE)
    body = bytearray(body_bytes(23, 4, translate_epoch.request(asked, 4)))
    count = body.index(b"\x03" + bytes(4) + (3).to_bytes(8, "big"))  # two items, the first is (0, 3)
    body[count] = items + 1
    with pytest.raises(ValueError, match=why):
        codec(23, 4).read_request(bytes(body), 0)


@pytest.mark.parametrize(
    ("rule", "version"), [("kip101", 3), ("kip279", 3), ("unknown-epoch", 3), ("hw-epoch", 3), ("lineage", 4)]
)
def test_a_follower_asks_in_the_version_of_its_rule(rule, version):
    assert translate_epoch.epoch_version(RULES[rule]) == version


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("end", "error"),
    [
        (EpochEnd(3, 11), None),
        (EpochEnd(-1, 11), None),
        (NO_EPOCH_END, None),
        (NO_EPOCH_END, UNKNOWN_LEADER_EPOCH),
        (NONE_KNOWN, None),
    ],
)
def test_an_answer_arrives(body_bytes, end, error, version):
    body = body_bytes(
        23, version, translate_epoch.response(EpochResponse(1, "t-1", 7, end, error), version), "response"
    )
    answer = translate_epoch.answer(codec(23, version).read_response(body, 0), ASKED, 1)
    assert answer == EpochResponse(1, "t-1", ASKED.correlation, end, error)


def test_an_answer_about_another_partition_is_none():
    with pytest.raises(MeaninglessError, match="another partition"):
        translate_epoch.answer(translate_epoch.response(EpochResponse(1, "t-0", 7, NO_EPOCH_END), 3), ASKED, 1)
