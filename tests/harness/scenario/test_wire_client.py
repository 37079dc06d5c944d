"""One batch, one request, one broker; and what its answer means."""

import threading
from datetime import timedelta
from random import Random

import pytest
from kio.schema.delete_records.v1.response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v4.response import FetchableTopicResponse, FetchResponse, PartitionData
from kio.schema.list_offsets.v1.response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kio.schema.produce.v7.response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kio.schema.types import TopicName
from kio.static.primitive import Records, i32, i32Timedelta, i64

from tidemark.harness.clients.journal import Journal, PollRecorder
from tidemark.harness.clients.own_consumers import OwnConsumer, OwnConsumers
from tidemark.harness.clients.wire_client import LIST_OFFSETS, PRODUCE, BrokerConnection, NoAnswerError, RefusedError
from tidemark.harness.scenario.live.clients import BatchSender, Deleter, Reader
from tidemark.nemesis import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.formats.record_batch import build, leader_change, place, values_of

NO_WAIT = i32Timedelta.parse(timedelta(0))


def produced(base, error=ErrorCode.none):
    answer = PartitionProduceResponse(index=i32(0), error_code=error, base_offset=i64(base))
    return ProduceResponse(responses=(TopicProduceResponse(name=TopicName("t"), partition_responses=(answer,)),))


def fetched(*batches, hw=0, error=ErrorCode.none):
    answer = PartitionData(
        partition_index=i32(0),
        error_code=error,
        high_watermark=i64(hw),
        aborted_transactions=None,
        records=Records(b"".join(batches)),
    )
    topic = FetchableTopicResponse(topic=TopicName("t"), partitions=(answer,))
    return FetchResponse(throttle_time=NO_WAIT, responses=(topic,))


@pytest.fixture
def connection(broker):
    with BrokerConnection(broker.address, 5) as connection:
        yield connection


def test_a_batch_is_one_request_with_what_was_asked_for(broker, connection):
    broker.answer = lambda key, request: produced(7)

    assert connection.produce("t-0", build((1, 2)), "all", 1_500) == 7
    (request,) = broker.requests
    (topic,) = request.topic_data
    (data,) = topic.partition_data
    assert (request.acks, request.timeout.total_seconds(), topic.name, data.index) == (-1, 1.5, "t", 0)
    assert values_of(data.records) == (1, 2)


def test_with_acks_0_no_answer_is_waited_for(broker, connection):
    broker.answer = lambda key, request: "silence" if key == PRODUCE else fetched()

    assert connection.produce("t-0", build((1,)), "0", 1_500) is None
    assert connection.fetch("t-0", 0).records == []


def test_a_refusal_has_kafkas_name(broker, connection):
    broker.answer = lambda key, request: produced(-1, ErrorCode.not_leader_or_follower)

    with pytest.raises(RefusedError) as refused:
        connection.produce("t-0", build((1,)), "all", 1_500)
    assert refused.value.name == "NOT_LEADER_OR_FOLLOWER"


def test_a_fetch_gives_what_lies_between_its_offset_and_the_high_watermark(broker, connection):
    """A broker sends whole batches, which may begin before the offset and reach beyond the high watermark."""
    broker.answer = lambda key, request: fetched(build((5, 6, 7), 2), build((8, 9), 5), hw=6)

    assert connection.fetch("t-0", 3) == ([(3, 6), (4, 7), (5, 8)], 6, 6)


@pytest.mark.parametrize("answer", [None, fetched(b"\0" * 80), b"\1"])
def test_without_a_proper_answer_the_outcome_is_unknown(broker, connection, answer):
    broker.answer = lambda key, request: answer

    with pytest.raises(NoAnswerError):
        connection.fetch("t-0", 0)


def test_nobody_there_is_no_answer(broker):
    broker.close()

    with pytest.raises(NoAnswerError, match="no connection to 127"):
        BrokerConnection(broker.address, 5)


# What the clients of a scenario make of it


def told(ops):
    return [(op.time, op.process, op.type, op.f, op.value, op.error, op.acks) for op in ops]


def sender(ops, acks="all"):
    return BatchSender(lambda: len(ops), ops, "p1", "t-0", (4, 5), acks)


def test_an_acknowledged_batch_has_its_offsets(broker):
    ops = []
    broker.answer = lambda key, request: produced(20)
    batch = sender(ops)
    batch.send(broker.address, 1_000_000)
    batch._thread.join()
    batch.give_up()

    assert batch.state == "acked"
    assert told(ops) == [
        (0, "p1", "invoke", "send", (("send", "t-0", 4), ("send", "t-0", 5)), None, "all"),
        (1, "p1", "ok", "send", (("send", "t-0", (20, 4)), ("send", "t-0", (21, 5))), None, "all"),
    ]


def test_with_acks_0_a_batch_is_acknowledged_when_it_is_sent(broker):
    ops = []
    broker.answer = lambda key, request: "silence"
    batch = sender(ops, "0")
    batch.send(broker.address, 1_000_000)
    batch.give_up()

    assert batch.state == "acked"
    assert ops[-1].value == (("send", "t-0", (None, 4)), ("send", "t-0", (None, 5)))


@pytest.mark.parametrize(
    ("error", "kind"),
    [("not_leader_or_follower", "fail"), ("not_enough_replicas", "fail"), ("request_timed_out", "info")],
)
def test_a_refused_batch_failed_only_if_nothing_can_have_been_appended(broker, error, kind):
    ops = []
    broker.answer = lambda key, request: produced(-1, ErrorCode[error])
    batch = sender(ops)
    batch.send(broker.address, 1_000_000)
    batch._thread.join()
    batch.give_up()

    assert batch.state == error.upper()
    assert [(op.type, op.error) for op in ops] == [("invoke", None), (kind, error.upper())]


def test_a_batch_without_an_answer_is_waited_for_until_it_is_given_up(broker):
    ops = []
    arrived = threading.Event()
    broker.answer = lambda key, request: arrived.set() or "silence"
    batch = sender(ops)
    batch.send(broker.address, 1_000_000)
    arrived.wait(5)

    assert batch.state == "sent"
    batch.give_up()
    assert batch.state == "REQUEST_TIMED_OUT"
    assert [(op.type, op.error) for op in ops] == [("invoke", None), ("info", "REQUEST_TIMED_OUT")]


def test_a_batch_to_nobody_is_a_batch_without_an_answer(broker):
    ops = []
    broker.close()
    batch = sender(ops)
    batch.send(broker.address, 1_000_000)

    assert batch.state == "sent"
    batch.give_up()
    assert [op.type for op in ops] == ["invoke", "info"]


def test_a_reader_goes_on_until_the_high_watermark(broker):
    ops = []
    answers = iter([fetched(build((5, 6), 0), hw=3), fetched(build((7,), 2), hw=3)])
    broker.answer = lambda key, request: next(answers)

    assert Reader(lambda: len(ops), ops, "c1", "t-0").read(broker.address) == (5, 6, 7)
    assert [request.topics[0].partitions[0].fetch_offset for request in broker.requests] == [0, 2]
    assert told(ops) == [
        (0, "c1", "invoke", "poll", (("poll", {}),), None, None),
        (1, "c1", "ok", "poll", (("poll", {"t-0": [(0, 5), (1, 6), (2, 7)]}),), None, None),
    ]


def test_a_refused_reader_has_read_nothing(broker):
    ops = []
    broker.answer = lambda key, request: fetched(error=ErrorCode.not_leader_or_follower)

    with pytest.raises(RefusedError):
        Reader(lambda: 0, ops, "final", "t-0", final=True).read(broker.address)
    assert [(op.type, op.error, op.final) for op in ops] == [
        ("invoke", None, True),
        ("fail", "NOT_LEADER_OR_FOLLOWER", True),
    ]


def deleted(low, error=ErrorCode.none):
    answer = DeleteRecordsPartitionResult(partition_index=i32(0), low_watermark=i64(low), error_code=error)
    topic = DeleteRecordsTopicResult(name=TopicName("t"), partitions=(answer,))
    return DeleteRecordsResponse(throttle_time=NO_WAIT, topics=(topic,))


def listed(offset, error=ErrorCode.none):
    answer = ListOffsetsPartitionResponse(
        partition_index=i32(0), error_code=error, timestamp=i64(-1), offset=i64(offset)
    )
    return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name=TopicName("t"), partitions=(answer,)),))


def test_a_deletion_is_one_request_with_what_was_asked_for(broker, connection):
    broker.answer = lambda key, request: deleted(7)

    assert connection.delete_records("t-0", 9, 1_500) == 7
    (request,) = broker.requests
    (topic,) = request.topics
    (part,) = topic.partitions
    assert (request.timeout.total_seconds(), topic.name, part.partition_index, part.offset) == (1.5, "t", 0, 9)


def test_a_deletion_can_be_refused(broker, connection):
    broker.answer = lambda key, request: deleted(-1, ErrorCode.offset_out_of_range)

    with pytest.raises(RefusedError) as refused:
        connection.delete_records("t-0", 9, 1_500)
    assert refused.value.name == "OFFSET_OUT_OF_RANGE"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (deleted(7), [("invoke", None), ("ok", None)]),
        (deleted(-1, ErrorCode.offset_out_of_range), [("invoke", None), ("fail", "OFFSET_OUT_OF_RANGE")]),
        (deleted(-1, ErrorCode.unsupported_version), [("invoke", None), ("fail", "UNSUPPORTED_VERSION")]),
        (deleted(-1, ErrorCode.request_timed_out), [("invoke", None), ("info", "REQUEST_TIMED_OUT")]),
        (
            deleted(-1, ErrorCode.not_leader_or_follower),
            [("invoke", None), ("info", "NOT_LEADER_OR_FOLLOWER")],
        ),
        ("silence", [("invoke", None), ("info", "REQUEST_TIMED_OUT")]),
        (None, [("invoke", None), ("info", "REQUEST_TIMED_OUT")]),
    ],
)
def test_only_two_answers_to_a_deletion_prove_that_nothing_went(broker, answer, told):
    asked = threading.Event()

    def says(key, request):
        asked.set()
        return answer

    broker.answer, ops = says, []
    deleter = Deleter(lambda: 5, ops, "d1", "t-0", 9)
    deleter.send(broker.address, 1_000)
    assert asked.wait(5)
    if answer not in ("silence", None):
        deleter._thread.join()
    deleter.give_up()
    deleter.give_up()

    assert [(op.type, op.error) for op in ops] == told
    assert {(op.process, op.f, op.value) for op in ops} == {("d1", "delete", (("delete", "t-0", 9),))}


def test_a_deletion_that_nobody_hears_is_in_doubt():
    ops = []
    deleter = Deleter(lambda: 5, ops, "d1", "t-0", 9)
    deleter.send(("127.0.0.1", 1), 1_000)
    deleter.give_up()

    assert [(op.type, op.error) for op in ops] == [("invoke", None), ("info", "REQUEST_TIMED_OUT")]


def test_a_reader_begins_where_the_log_does(broker):
    def says(key, request):
        if key == LIST_OFFSETS:
            return listed(3)
        offset = request.topics[0].partitions[0].fetch_offset
        return fetched(hw=5, error=ErrorCode.offset_out_of_range) if offset < 3 else fetched(build((8, 9), 3), hw=5)

    broker.answer, ops = says, []

    assert Reader(lambda: 5, ops, "c1", "t-0").read(broker.address) == (8, 9)
    assert ops[-1].value == (("poll", {"t-0": [(3, 8), (4, 9)]}),)


def test_a_reader_that_is_out_of_range_from_the_log_start_on_is_refused(broker):
    broker.answer = lambda key, request: (
        listed(0) if key == LIST_OFFSETS else fetched(error=ErrorCode.offset_out_of_range)
    )

    with pytest.raises(RefusedError):
        Reader(lambda: 5, [], "c1", "t-0").read(broker.address)


def test_what_a_leader_writes_of_its_own_is_passed_over(broker, connection):
    whole = place(leader_change(1, 2), 0, 2), build((8,), 1, 2), place(leader_change(2, 3), 2, 3)
    broker.answer = lambda key, request: fetched(*whole, hw=3)

    assert connection.fetch("t-0", 0) == ([(1, 8)], 3, 3)


def test_a_reader_that_may_read_anywhere_goes_on_behind_what_it_read(broker):
    def says(key, request):
        at = request.topics[0].partitions[0].fetch_offset
        return fetched(*(build((at,), at, 2),) if at < 2 else (), hw=2)

    broker.answer, ops = says, []
    journal = Journal(lambda: 5, ops.append, "all")
    bootstrap = ",".join(["{}:{}".format(*broker.address)] * 3)
    readers = OwnConsumers(bootstrap, ClusterSpec(), WorkloadSpec(), journal, 1)

    assert readers.final_read(lambda: True)
    read = [op.value[0][1] for op in ops if op.type == "ok"]
    assert read == [{"t-0": [(0, 0)]}, {"t-0": [(1, 1)]}]
    assert not readers.final_read(lambda: False)


def test_a_reader_of_leaders_stays_with_whoever_serves_it(broker):
    asked = []

    def says(key, request):
        asked.append(request.topics[0].partitions[0].fetch_offset)
        return fetched(error=ErrorCode.not_leader_or_follower) if len(asked) < 3 else fetched(build((7,), 0, 2), hw=1)

    broker.answer, ops = says, []
    journal = Journal(lambda: 5, ops.append, "all")
    recorder = PollRecorder(journal, "c1", final=False)
    nobody = ("127.0.0.1", 1)
    reader = OwnConsumer({1: broker.address, 2: nobody}, ClusterSpec(), recorder, Random(3), leaders_only=True)
    while not reader.poll("t-0"):
        pass
    served = [op.type for op in ops if op.type != "invoke"]
    for _ in range(20):
        assert reader.poll("t-0")
    reader.close()

    assert set(served[:-1]) == {"fail"}
    assert [op.type for op in ops if op.type != "invoke"][len(served) :] == ["ok"] * 20
