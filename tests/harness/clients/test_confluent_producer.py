"""librdkafka's delivery reports, from its mock cluster, as operations."""

import contextlib
import logging
import threading
import time

import pytest
from confluent_kafka import Consumer, TopicPartition

from tidemark.harness.clients import confluent_producer
from tidemark.harness.clients.confluent_producer import ConfluentProducer
from tidemark.harness.clients.journal import SendRecorder

T = "t-0"
FORCE_EXIT = 10
UNKNOWN, NOT_LEADER, TIMED_OUT, TOO_LARGE = -1, 6, 7, 10
TOO_FEW, TOO_FEW_AFTER_APPEND, OUT_OF_ORDER, DUPLICATE = 19, 20, 45, 46
DISCONNECTED = -195


class Hand:
    """A producer whose operations are begun by hand."""

    def __init__(self, mock, run):
        log = logging.Logger("test")  # noqa: LOG001
        log.addHandler(logging.NullHandler())
        self.run = run
        self.producer = ConfluentProducer(
            mock.bootstrap, run.cluster, run.script(), SendRecorder(run.journal, "p1"), log
        )
        self._next = 0

    def sends(self, count=2):
        """What is recorded of a batch: outcomes, offsets, error, for each process."""
        values = tuple(range(self._next, self._next + count))
        self._next += count
        told = len(self.run.said())
        rested = time.monotonic()
        self.producer._serve_until(lambda: self.producer._sent.measured_at > rested, rested + 1)
        self.producer._operate(T, values)
        found = []
        for process, kind, value, error in self.run.said()[told:]:
            offsets = [micro[2][0] for micro in value] if kind == "ok" else len(value)
            found.append((process, kind, offsets, error))
        return found[0][1:] if len(found) == 1 else found


@pytest.fixture
def hand(mock, run_of, monkeypatch):
    """A send stays one batch, however busy the machine is."""
    monkeypatch.setattr("tidemark.harness.clients.confluent_settings.LINGER_MS", 100)
    with contextlib.ExitStack() as kept:

        def make(acks="all"):
            made = Hand(mock, run_of(acks))
            kept.callback(made.producer._close)
            return made

        yield make


def values_in(mock):
    """The values of t-0."""
    consumer = Consumer({"bootstrap.servers": mock.bootstrap, "group.id": "test", "log_level": 0})
    _, end = consumer.get_watermark_offsets(TopicPartition("t", 0), timeout=60)
    consumer.assign([TopicPartition("t", 0, 0)])
    found = [int(message.value()) for message in consumer.consume(end, timeout=60)]
    consumer.close()
    return found


@pytest.mark.parametrize("acks", ["all", "1"])
def test_acknowledged_with_offsets(hand, mock, acks):
    producer = hand(acks)
    assert producer.sends(3) == ("ok", [0, 1, 2], None)
    assert producer.sends(1) == ("ok", [3], None)
    assert values_in(mock) == [0, 1, 2, 3]


def test_without_acknowledgements_there_are_no_offsets(hand):
    assert hand("0").sends() == ("ok", [None, None], None)


@pytest.mark.parametrize(
    "code", [NOT_LEADER, TOO_FEW, TOO_FEW_AFTER_APPEND, TIMED_OUT, DISCONNECTED], ids=lambda code: f"error{code}"
)
def test_an_idempotent_producer_repeats(hand, mock, code):
    producer = hand()
    producer.sends()
    mock.answer(0, code)
    assert producer.sends() == ("ok", [2, 3], None)


def test_refused_at_the_first_try(hand, mock):
    producer = hand()
    mock.answer(0, TOO_LARGE)
    assert producer.sends() == ("fail", 2, "MESSAGE_TOO_LARGE")
    assert producer.sends() == ("ok", [0, 1], None)


def test_refused_after_a_try_in_doubt(hand, mock):
    producer = hand()
    producer.sends()
    mock.answer(0, TIMED_OUT, TOO_LARGE)
    assert producer.sends() == ("info", 2, "MESSAGE_TOO_LARGE")


def test_a_fatal_error_begins_a_new_producer(hand, mock):
    producer = hand()
    mock.answer(0, OUT_OF_ORDER)
    assert producer.sends() == ("fail", 2, "OUT_OF_ORDER_SEQUENCE_NUMBER")
    assert producer.sends() == ("ok", [0, 1], None)


def test_a_duplicate_was_written_somewhere(hand, mock):
    producer = hand()
    mock.answer(0, DUPLICATE)
    assert producer.sends() == ("ok", [None, None], None)
    assert producer.sends() == ("ok", [0, 1], None)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (TIMED_OUT, ("info", 2, "REQUEST_TIMED_OUT")),
        (TOO_FEW_AFTER_APPEND, ("info", 2, "NOT_ENOUGH_REPLICAS_AFTER_APPEND")),
        (UNKNOWN, ("info", 2, "UNKNOWN_SERVER_ERROR")),
        (DISCONNECTED, ("info", 2, "_TRANSPORT")),
        (TOO_FEW, ("fail", 2, "NOT_ENOUGH_REPLICAS")),
        (TOO_LARGE, ("fail", 2, "MESSAGE_TOO_LARGE")),
        (NOT_LEADER, ("ok", [0, 1], None)),
    ],
    ids=str,
)
def test_without_idempotence_only_what_was_refused_is_repeated(hand, mock, code, outcome):
    producer = hand("1")
    mock.answer(0, code)
    assert producer.sends() == outcome


@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_a_batch_that_never_left_failed(hand, mock, acks):
    producer = hand(acks)
    producer.sends(1)
    mock.down(1)
    assert producer.sends() == ("fail", 2, "_MSG_TIMED_OUT")
    mock.up(1)
    assert producer.sends()[0] == "ok"


@pytest.mark.parametrize("acks", ["all", "1"])
def test_a_batch_without_an_answer_may_have_been_written(hand, mock, acks):
    producer = hand(acks)
    producer.sends(1)
    for first in (1, 4, 7):  # on a busy machine a batch may time out before it is sent
        mock.slow(1, 3000)
        assert producer.sends() == ("info", 2, "_MSG_TIMED_OUT")
        mock.slow(1, 0)
        assert producer.sends(1)[0] == "ok"
        if {first, first + 1} <= set(values_in(mock)):
            return
    pytest.fail("none was written")


def test_a_leader_that_is_always_another(hand, mock):
    producer = hand()
    producer.sends(1)
    mock.answer(0, *[NOT_LEADER] * 200)
    assert producer.sends() == ("info", 2, "_MSG_TIMED_OUT")


def test_the_part_that_was_not_queued_failed(hand):
    made = hand()
    made.producer._close()
    made.producer._settings["queue.buffering.max.messages"] = 1
    made.producer._open()
    assert made.sends(3) == [("p1", "ok", [0], None), ("p1.1", "fail", 2, "_QUEUE_FULL")]
    assert made.sends(1) == ("ok", [1], None)


def test_without_statistics_nothing_is_certain(hand, mock, monkeypatch):
    made = hand()
    made.sends(1)
    monkeypatch.setattr(confluent_producer, "STATISTICS_S", 0)
    mock.down(1)
    assert made.sends() == ("info", 2, "_MSG_TIMED_OUT")
    mock.up(1)


def test_a_report_that_does_not_come_is_not_waited_for_for_ever(hand, mock, monkeypatch):
    made = hand()
    made.sends(1)
    monkeypatch.setattr(confluent_producer, "LATE_S", -0.6)
    mock.slow(1, 2000)
    assert made.sends() == ("info", 2, "_PURGE_INFLIGHT")
    mock.slow(1, 0)


def test_runs_until_it_is_told_to_stop(mock, run_of):
    run = run_of()
    log = logging.Logger("test")  # noqa: LOG001
    log.addHandler(logging.NullHandler())
    producer = ConfluentProducer(mock.bootstrap, run.cluster, run.script(), SendRecorder(run.journal, "p1"), log)
    stopping = threading.Event()
    thread = threading.Thread(target=producer.run, args=(stopping,))
    thread.start()
    while run.journal.counters.ok < 3:
        stopping.wait(0.01)
    stopping.set()
    thread.join(FORCE_EXIT)
    assert not thread.is_alive()
    assert len(run.ops) % 2 == 0
    assert run.ops[-1].type == "ok"
