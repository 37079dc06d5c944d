"""Consumers of both libraries before a mock cluster."""

import asyncio
import contextlib
import logging

import pytest
from confluent_kafka import Producer

from tidemark.harness.clients import aiokafka_consumer, confluent_consumer
from tidemark.harness.clients.journal import PollRecorder

pytestmark = pytest.mark.usefixtures("silent")

OUT_OF_RANGE, UNKNOWN, GROUP_REFUSED = 1, -1, 30
FETCH, FIND_COORDINATOR = 1, 10
PATIENCE = 100


class Confluent:
    """Steps of a librdkafka consumer."""

    name = "confluent"

    def __init__(self, bootstrap, run, recorder, log):
        self._keys = run.keys
        self._consumer = confluent_consumer.AssignedConsumer(bootstrap, run.cluster, run.keys, recorder, log)
        self.polling = self._consumer.polling

    def poll(self):
        self._consumer.poll()

    def read_all(self, in_time):
        return confluent_consumer.read_all(self._consumer, self._keys, in_time)

    def close(self):
        self._consumer.close()


class Aiokafka:
    """Steps of an aiokafka consumer, in a loop of its own."""

    name = "aiokafka"

    def __init__(self, bootstrap, run, recorder, log):
        self._runner = asyncio.Runner()
        self._consumer = aiokafka_consumer.AssignedConsumer(bootstrap, run.cluster, run.keys, recorder, log)
        self.polling = self._consumer.polling

    def poll(self):
        self._runner.run(self._consumer.poll())

    def read_all(self, in_time):
        return self._runner.run(aiokafka_consumer.read_all(self._consumer, in_time))

    def close(self):
        self._runner.run(self._consumer.close())
        self._runner.close()


@pytest.fixture(params=[Confluent, Aiokafka], ids=lambda kind: kind.name)
def consumer_of(request):
    with contextlib.ExitStack() as kept:

        def make(mock, run, process="c1", *, final=False):
            log = logging.Logger("test")  # noqa: LOG001
            log.addHandler(logging.NullHandler())
            made = request.param(mock.bootstrap, run, PollRecorder(run.journal, process, final=final), log)
            kept.callback(made.close)
            return made

        yield make


def fill(mock, partition, values):
    producer = Producer({"bootstrap.servers": mock.bootstrap, "log_level": 0, "linger.ms": 1})
    for value in values:
        producer.produce("t", value, partition=partition)
    assert producer.flush(10) == 0
    producer.close()


def poll_until(consumer, enough):
    for _ in range(PATIENCE):
        consumer.poll()
        if enough():
            return
    pytest.fail("it did not happen")


def records(run, key):
    """What was read of a partition."""
    return [record for _, _, value, _ in run.said("poll") for record in value[0][1].get(key, ())]


def test_reads_both_partitions_from_the_start(mock, run_of, consumer_of):
    fill(mock, 0, ["10", "11", "12"])
    fill(mock, 1, ["20"])
    run = run_of()
    consumer = consumer_of(mock, run)
    poll_until(consumer, lambda: consumer.polling.position == {"t-0": 3, "t-1": 1})
    assert records(run, "t-0") == [(0, 10), (1, 11), (2, 12)]
    assert records(run, "t-1") == [(0, 20)]
    assert {(process, kind, error) for process, kind, _, error in run.said("poll")} == {("c1", "ok", None)}
    assert not run.said("assign")


def test_nothing_to_read_is_an_empty_poll(mock, run_of, consumer_of):
    run = run_of()
    consumer_of(mock, run).poll()
    assert run.said("poll") == [("c1", "ok", (("poll", {}),), None)]


def test_foreign_records_are_kept_as_they_are(mock, run_of, consumer_of):
    fill(mock, 0, ["", "1x"])
    run = run_of()
    consumer = consumer_of(mock, run)
    poll_until(consumer, lambda: consumer.polling.position["t-0"] == 2)
    assert records(run, "t-0") == [(0, ""), (1, "1x")]


def test_a_client_without_rights_on_groups_reads_as_well(mock, run_of, consumer_of):
    mock.answer(FIND_COORDINATOR, *[GROUP_REFUSED] * 20)
    fill(mock, 0, ["10"])
    run = run_of()
    consumer = consumer_of(mock, run)
    poll_until(consumer, lambda: consumer.polling.position["t-0"] == 1)
    for _ in range(20):
        consumer.poll()
    assert {(kind, error) for _, kind, _, error in run.said("poll")} == {("ok", None)}


def test_a_reset_position_is_an_assign(mock, run_of, consumer_of):
    fill(mock, 0, ["10", "11"])
    run = run_of(partitions=1)
    consumer = consumer_of(mock, run)
    poll_until(consumer, lambda: consumer.polling.position["t-0"] == 2)
    mock.answer(FETCH, OUT_OF_RANGE)
    poll_until(consumer, lambda: run.said("assign"))
    poll_until(consumer, lambda: consumer.polling.position["t-0"] == 2)
    assert run.said("assign") == [("c1", "ok", (), None)]
    assert records(run, "t-0") == [(0, 10), (1, 11)] * 2
    halves = [op.type == "invoke" for op in run.ops]
    assert halves == [True, False] * (len(halves) // 2)


def test_the_final_reader_reads_to_the_high_watermarks(mock, run_of, consumer_of):
    fill(mock, 0, [str(value) for value in range(40)])
    run = run_of()
    assert consumer_of(mock, run, "final", final=True).read_all(lambda: True)
    assert records(run, "t-0") == [(value, value) for value in range(40)]
    assert all(op.final and op.process == "final" for op in run.ops)


def test_the_final_reader_polls_an_empty_log_too(mock, run_of, consumer_of):
    run = run_of()
    assert consumer_of(mock, run, "final", final=True).read_all(lambda: True)
    assert run.said("poll")


def test_the_final_reader_gives_up_in_time(mock, run_of, consumer_of):
    for broker in (1, 2, 3):
        mock.down(broker)
    run = run_of()
    assert not consumer_of(mock, run, "final", final=True).read_all(lambda: run.clock() < 300_000)
    assert not [kind for _, kind, value, _ in run.said("poll") if value[0][1]]


def test_the_final_reader_waits_for_a_leader(mock, run_of, consumer_of):
    fill(mock, 0, ["10"])
    mock.down(1)
    run = run_of()

    def in_time():
        if run.clock() > 600_000:
            mock.up(1)
        return run.clock() < 8_000_000

    assert consumer_of(mock, run, "final", final=True).read_all(in_time)
    assert records(run, "t-0") == [(0, 10)]


def test_librdkafka_tells_what_a_broker_would_not_give(mock, run_of):
    fill(mock, 0, ["10"])
    run = run_of(partitions=1)
    log = logging.Logger("test")  # noqa: LOG001
    log.addHandler(logging.NullHandler())
    consumer = Confluent(mock.bootstrap, run, PollRecorder(run.journal, "c1"), log)
    mock.answer(FETCH, UNKNOWN)
    poll_until(consumer, lambda: consumer.polling.position["t-0"] == 1)
    assert ("c1", "fail", (("poll", {}),), "UNKNOWN_SERVER_ERROR") in run.said("poll")
    for broker in (1, 2, 3):
        mock.down(broker)
    poll_until(consumer, lambda: run.said("poll")[-1][1] == "fail")
    assert run.said("poll")[-1][3] == "_ALL_BROKERS_DOWN"
    consumer.close()


def test_aiokafka_fails_polls_until_it_is_connected(mock, run_of, monkeypatch):
    monkeypatch.setattr(aiokafka_consumer, "CONNECT_S", 0.05)
    for broker in (1, 2, 3):
        mock.down(broker)
    run = run_of()
    log = logging.Logger("test")  # noqa: LOG001
    log.addHandler(logging.NullHandler())
    consumer = Aiokafka(mock.bootstrap, run, PollRecorder(run.journal, "c1"), log)
    consumer.poll()
    assert run.said("poll") == [("c1", "fail", (("poll", {}),), "_TRANSPORT")]
    for broker in (1, 2, 3):
        mock.up(broker)
    poll_until(consumer, lambda: run.said("poll")[-1][1] == "ok")
    consumer.close()
