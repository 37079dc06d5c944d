"""What consumers learn when the leader changes, and when committed records are gone."""

import time
from contextlib import ExitStack, contextmanager

import pytest
from confluent_kafka import Consumer, TopicPartition
from kio.index import load_payload_module
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

PATIENCE_S = 30
T = "t-0"


def fetch(offset, version, epoch, wait_ms):
    from datetime import timedelta

    m = load_payload_module(1, version, EntityType.request)
    fields = {"current_leader_epoch": epoch} if version >= 9 else {}
    part = m.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **fields)
    whole = {"forgotten_topics_data": ()} if version >= 7 else {}
    wait = timedelta(milliseconds=wait_ms)
    return m.FetchRequest(
        max_wait=wait, min_bytes=1, max_bytes=1 << 20, topics=(m.FetchTopic(topic="t", partitions=(part,)),), **whole
    )


@pytest.mark.parametrize(
    ("variant", "version", "error"),
    [
        ("kafka-2.7", 11, ErrorCode.fenced_leader_epoch),
        ("kafka-2.7", 8, ErrorCode.not_leader_or_follower),
        ("kafka-2.0", 8, ErrorCode.not_leader_or_follower),
    ],
)
def test_a_long_poll_ends_when_the_leader_changes(three_nodes, variant, version, error):
    wait_ms = 120_000
    with three_nodes(variant) as cluster:
        leader = cluster.leader()
        epoch = cluster.status(leader, T)["leader_epoch"]
        client = cluster.client(leader)
        client.socket.settimeout(PATIENCE_S)
        client.send(1, version, fetch(0, version, epoch, wait_ms))
        target = next(broker for broker in cluster.brokers if broker != leader)
        cluster.admin(0)("elect", partition=T, how="forced", target=target)
        _, answer = client.receive(1, version)

        (part,) = answer.responses[0].partitions
        assert (part.error_code, part.records) == (error, b"")


@contextmanager
def two_nodes(local_cluster, variant):
    """Two brokers, min ISR 1, and leaders that may come from outside the ISR."""
    settings = Settings(min_isr=1, unclean_election=True).scaled(2)
    with local_cluster(variant, ClusterSpec(brokers=2, replication_factor=2, settings=settings)) as cluster:
        cluster.settled()
        yield cluster


@contextmanager
def reader(cluster):
    """A consumer that reads from the beginning, and is told when its position is no longer valid."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "none",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "topic.metadata.refresh.interval.ms": 500,
            "reconnect.backoff.max.ms": 200,
            "log_level": 0,
        }
    )
    try:
        consumer.assign([TopicPartition("t", 0, 0)])
        yield consumer
    finally:
        consumer.close()


def poll(consumer, until):
    """Values and errors' words, until ``until(values, errors)``."""
    values, errors = [], []
    give_up = time.monotonic() + PATIENCE_S
    while not until(values, errors):
        assert time.monotonic() < give_up, (values, errors)
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error() is None:
            values.append(message.value())
        else:
            errors.append(message.error().str())
    return values, errors


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "notices"), [("kafka-2.1", True), ("kafka-2.7", True), ("kafka-2.0", False)])
def test_librdkafka_notices_that_the_log_was_cut(local_cluster, eventually_true, variant, notices):
    """Ten records are committed by leader 1 alone, and read; then 2, which has none, is elected and gets twenty others."""
    with two_nodes(local_cluster, variant) as cluster, ExitStack() as stack:
        cluster.kill(2)
        eventually_true(lambda: cluster.status(0, T)["isr"] == [1])
        eventually_true(lambda: cluster.produce(list(range(10))).error_code == ErrorCode.none)
        consumer = stack.enter_context(reader(cluster))
        values, _ = poll(consumer, lambda values, _: len(values) == 10)
        assert values == [b"%d" % value for value in range(10)]
        consumer.pause(consumer.assignment())  # or it may see a log that ends before 10, and be out of range
        cluster.kill(1)
        cluster.start(2)
        eventually_true(lambda: cluster.status(0, T)["leader"] == 2)
        eventually_true(lambda: cluster.produce(list(range(100, 120))).error_code == ErrorCode.none)
        consumer.resume(consumer.assignment())
        wanted = (lambda _, errors: errors) if notices else (lambda values, _: len(values) == 10)
        values, errors = poll(consumer, wanted)

        if notices:
            assert values == []
            assert "log truncation detected at offset 10" in errors[0]
        else:
            assert values == [b"%d" % value for value in range(110, 120)]
            assert errors == []
