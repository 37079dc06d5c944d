"""A fetch says on the wire what its variant's generation could say, and nothing more."""

from io import BytesIO

import pytest

from tidemark.nodes.core.epoch_cache import EpochEnd
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import FENCED_LEADER_EPOCH, OFFSET_OUT_OF_RANGE, FetchRequest, FetchResponse
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.names import MeaninglessError, topic_id, topics_by_id
from tidemark.nodes.process.wire import translate_fetch
from tidemark.nodes.process.wire.translate_fetch import FetchTranslation, fetch_version, replica_of

ASKED = FetchRequest(2, "t-1", 17, 5, 4, 33, 1 << 40)


@pytest.fixture
def translation():
    def in_version_of(variant):
        return FetchTranslation(fetch_version(parse_variant(variant), 2), Settings(), topics_by_id(["t-0", "t-1"]))

    return in_version_of


def over_the_wire(version, entity, which):
    how = codec(1, version)
    out = BytesIO()
    (how.write_request if which == "request" else how.write_response)(out, entity)
    return (how.read_request if which == "request" else how.read_response)(out.getvalue(), 0)


@pytest.mark.parametrize(
    ("variant", "version"),
    [
        ("kafka-0.10", 8),
        ("kafka-0.11", 8),
        ("kafka-2.0", 8),
        ("kafka-2.1", 11),
        ("kafka-2.1+no-fences", 8),
        ("kafka-2.1+no-fetch-fence", 11),
        ("kafka-2.1+no-fences+truncation-fence", 8),
        ("kafka-2.7", 12),
        ("kafka-2.0+truncation=fetch", 12),
        ("kafka-3.7", 15),
        ("kafka-4.0", 15),
    ],
)
def test_the_version_follows_the_variant(variant, version):
    assert fetch_version(parse_variant(variant), 2) == version


def test_a_broker_with_a_rule_of_its_own_has_a_version_of_its_own():
    variant = parse_variant("kafka-2.1+truncation@2=fetch")
    assert [fetch_version(variant, broker) for broker in (1, 2, 3)] == [11, 12, 11]


@pytest.mark.parametrize(
    ("variant", "epoch", "last", "broker_epoch"),
    [("kafka-2.0", -1, -1, -1), ("kafka-2.1", 5, -1, -1), ("kafka-2.7", 5, 4, -1), ("kafka-3.7", 5, 4, 33)],
)
def test_a_request_carries_what_its_version_can(translation, variant, epoch, last, broker_epoch):
    how = translation(variant)
    entity = over_the_wire(how.version, how.request(ASKED), "request")
    assert replica_of(entity, how.version) == (2, broker_epoch)
    assert how.message(entity, how.version, 9) == FetchRequest(2, "t-1", 17, epoch, last, broker_epoch, 9)


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_log_starts_go_both_ways(translation, variant):
    how = translation(variant)
    asked = FetchRequest(2, "t-1", 17, 5, 4, 33, 1 << 40, 7)
    assert how.message(over_the_wire(how.version, how.request(asked), "request"), how.version, 9).start == 7
    answers = (
        FetchResponse(1, "t-1", 9, [], 18, 20, None, None, 6),
        FetchResponse(1, "t-1", 9, [], 0, 20, OFFSET_OUT_OF_RANGE, None, 19),
    )
    starts = [
        how.answer(over_the_wire(how.version, how.response(m, how.version), "response"), ASKED, 1).start
        for m in answers
    ]
    assert starts == [6, 19]


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-2.7", "kafka-4.0"])
def test_batches_arrive_as_they_are(translation, variant):
    how = translation(variant)
    batches = [Batch(17, 3, Records(build([1, 2], 17, 3))), Batch(19, 5, Records(build([3], 19, 5)))]
    entity = over_the_wire(
        how.version, how.response(FetchResponse(1, "t-1", 9, batches, 18, 20), how.version), "response"
    )
    answer = how.answer(entity, ASKED, 1)
    assert (answer.source, answer.partition, answer.correlation) == (1, "t-1", ASKED.correlation)
    assert (answer.hw, answer.leo, answer.error, answer.diverging) == (18, 20, None, None)
    assert [(b.base, b.epoch, b.end, tuple(b.values)) for b in answer.batches] == [
        (17, 3, 19, (1, 2)),
        (19, 5, 20, (3,)),
    ]


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.7", "kafka-3.7"])
@pytest.mark.parametrize("error", [OFFSET_OUT_OF_RANGE, FENCED_LEADER_EPOCH])
def test_errors_come_with_the_leaders_log_end(translation, variant, error):
    how = translation(variant)
    refusal = how.response(FetchResponse(1, "t-1", 9, [], 3, 4, error), how.version)
    answer = how.answer(over_the_wire(how.version, refusal, "response"), ASKED, 1)
    assert (answer.error, answer.leo, answer.batches) == (error, 4, [])


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-3.7"])
def test_a_diverging_epoch_arrives(translation, variant):
    how = translation(variant)
    diverging = how.response(FetchResponse(1, "t-1", 9, [], 3, 4, None, EpochEnd(2, 11)), how.version)
    assert how.answer(over_the_wire(how.version, diverging, "response"), ASKED, 1).diverging == EpochEnd(2, 11)


def test_a_damaged_batch_is_no_answer(translation):
    how = translation("kafka-2.7")
    raw = bytearray(build([1, 2], 17, 3))
    raw[-1] ^= 1
    part = how.response(FetchResponse(1, "t-1", 9, [Batch(17, 3, Records(bytes(raw)))], 18, 20), how.version)
    with pytest.raises(BadBatchError):
        how.answer(over_the_wire(how.version, part, "response"), ASKED, 1)


def test_a_response_has_an_upper_size_but_at_least_one_batch(translation, monkeypatch):
    how = translation("kafka-2.7")
    batches = [Batch(n, 0, Records(build([n], n, 0))) for n in range(5)]
    size = batches[0].values.size
    for limit, count in ((1, 1), (size, 1), (3 * size, 3), (100 * size, 5)):
        monkeypatch.setattr(translate_fetch, "MAX_FETCH_BYTES", limit)
        entity = how.response(FetchResponse(1, "t-1", 9, batches, 0, 5), how.version)
        assert len(entity.responses[0].partitions[0].records) == count * size


def test_what_makes_no_sense_is_refused(translation):
    how = translation("kafka-3.7")
    entity = how.request(FetchRequest(2, "unknown-0", 17, 5, 4, 33, 1))
    with pytest.raises(MeaninglessError, match=str(topic_id("unknown"))):
        how.message(entity, 15, 9)
    other = how.response(FetchResponse(1, "t-0", 9, [], 0, 0), 15)
    with pytest.raises(MeaninglessError, match="another partition than t-1"):
        how.answer(other, ASKED, 1)
