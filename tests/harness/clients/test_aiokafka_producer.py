"""aiokafka's producer before a mock cluster, as operations."""

import asyncio
import logging

import pytest

from tidemark.harness.clients.aiokafka_producer import AiokafkaProducer
from tidemark.harness.clients.journal import SendRecorder

pytestmark = pytest.mark.usefixtures("silent")

T = "t-0"
UNKNOWN, NOT_LEADER, TIMED_OUT, TOO_LARGE, TOO_FEW = -1, 6, 7, 10, 19
TOO_FEW_AFTER_APPEND, OUT_OF_ORDER, DUPLICATE = 20, 45, 46


def operate(bootstrap, run, *steps):
    """Each step is a number of records to send, or a function to call; what was recorded of the sends."""
    log = logging.Logger("test")  # noqa: LOG001
    log.addHandler(logging.NullHandler())

    async def main():
        producer = AiokafkaProducer(bootstrap, run.cluster, run.script(), SendRecorder(run.journal, "p1"), log)
        value = 0
        for step in steps:
            if callable(step):
                step()
            else:
                await producer._operate(T, tuple(range(value, value + step)))
                value += step
        await producer._leave()

    asyncio.run(main())
    told = []
    for process, kind, value, error in run.said():
        assert process == "p1"
        told.append((kind, [micro[2][0] for micro in value] if kind == "ok" else len(value), error))
    return told


@pytest.mark.parametrize("acks", ["all", "1"])
def test_acknowledged_with_offsets(mock, run_of, acks):
    assert operate(mock.bootstrap, run_of(acks), 3, 1) == [("ok", [0, 1, 2], None), ("ok", [3], None)]


def test_without_acknowledgements_there_are_no_offsets(mock, run_of):
    assert operate(mock.bootstrap, run_of("0"), 2) == [("ok", [None, None], None)]


@pytest.mark.parametrize("code", [NOT_LEADER, TIMED_OUT, TOO_FEW, TOO_FEW_AFTER_APPEND])
def test_an_idempotent_producer_repeats(mock, run_of, code):
    assert operate(mock.bootstrap, run_of(), 1, lambda: mock.answer(0, code), 2)[1] == ("ok", [1, 2], None)


def test_refused_at_the_first_try_and_then_a_new_producer(mock, run_of):
    told = operate(mock.bootstrap, run_of(), lambda: mock.answer(0, TOO_LARGE), 2, 1)
    assert told == [("fail", 2, "MESSAGE_TOO_LARGE"), ("ok", [0], None)]


def test_refused_after_a_try_in_doubt(mock, run_of):
    told = operate(mock.bootstrap, run_of(), lambda: mock.answer(0, TIMED_OUT, OUT_OF_ORDER), 2)
    assert told == [("info", 2, "OUT_OF_ORDER_SEQUENCE_NUMBER")]


def test_a_duplicate_was_written_somewhere(mock, run_of):
    assert operate(mock.bootstrap, run_of(), lambda: mock.answer(0, DUPLICATE), 2) == [("ok", [None, None], None)]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (TIMED_OUT, ("info", 2, "REQUEST_TIMED_OUT")),
        (TOO_FEW_AFTER_APPEND, ("info", 2, "NOT_ENOUGH_REPLICAS_AFTER_APPEND")),
        (UNKNOWN, ("info", 2, "UNKNOWN_SERVER_ERROR")),
        (TOO_LARGE, ("fail", 2, "MESSAGE_TOO_LARGE")),
        (NOT_LEADER, ("ok", [0, 1], None)),
        (TOO_FEW, ("ok", [0, 1], None)),
    ],
)
def test_without_idempotence_only_what_was_refused_is_repeated(mock, run_of, code, outcome):
    assert operate(mock.bootstrap, run_of("1"), lambda: mock.answer(0, code), 2) == [outcome]


@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_a_batch_that_never_left_failed(mock, run_of, acks):
    told = operate(mock.bootstrap, run_of(acks), 1, lambda: mock.down(1), 2, lambda: mock.up(1), 1)
    assert [kind for kind, *_ in told] == ["ok", "fail", "ok"]


@pytest.mark.parametrize("acks", ["all", "1"])
def test_a_batch_without_an_answer_may_have_been_written(mock, run_of, acks):
    told = operate(mock.bootstrap, run_of(acks), 1, lambda: mock.slow(1, 2000), 2, lambda: mock.slow(1, 0))
    assert told[1] == ("info", 2, "_MSG_TIMED_OUT")


def test_a_leader_that_is_always_another(mock, run_of):
    told = operate(mock.bootstrap, run_of(), 1, lambda: mock.answer(0, *[NOT_LEADER] * 200), 2)
    assert told[1] == ("info", 2, "_MSG_TIMED_OUT")


def test_a_cluster_that_is_not_there_yet(mock, run_of):
    def all_brokers(change):
        return lambda: [change(broker) for broker in (1, 2, 3)]

    told = operate(mock.bootstrap, run_of(), all_brokers(mock.down), 1, all_brokers(mock.up), 2)
    assert told == [("fail", 1, "_TRANSPORT"), ("ok", [0, 1], None)]


def test_a_cluster_that_never_comes(run_of):
    assert operate("127.0.0.1:1", run_of(), 1) == [("fail", 1, "_TRANSPORT")]
