"""An idempotent producer's records are in the log once and in order, though it had to send many of them twice."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

T = "t-0"
PER_ROUND = 200
PATIENCE_S = 60


class Writer:
    """librdkafka, idempotent, writing 0, 1, 2 … in small batches."""

    def __init__(self, cluster):
        self.written = 0
        self.failed = []
        self._producer = Producer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "batch.num.messages": 10,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 200,
                "topic.metadata.refresh.interval.ms": 500,
                "log_level": 0,
            }
        )

    def write(self):
        for value in range(self.written, self.written + PER_ROUND):
            self._producer.produce("t", b"%d" % value, partition=0, on_delivery=self._delivered)
        self.written += PER_ROUND

    def _delivered(self, error, _message):
        if error is not None:
            self.failed.append(error)

    def flush(self):
        assert self._producer.flush(PATIENCE_S) == 0
        assert self.failed == []


def read_back(cluster, count):
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "none", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition("t", 0, 0)])
        values = []
        while len(values) < count:
            messages = consumer.consume(count, 1)
            assert [m.error() for m in messages if m.error()] == []
            values += [int(m.value()) for m in messages]
        return values
    finally:
        consumer.close()


def test_answers_that_are_lost(three_nodes, eventually_true):
    """Everything is appended, no answer arrives, and the connection ends: all of it is sent again."""
    with three_nodes() as cluster:
        leader = cluster.leader()
        writer = Writer(cluster)
        writer.write()
        writer.flush()
        for _ in range(3):
            cluster.admin(leader)(
                "transport", key=1, rules=[{"kind": "acks", "to": None, "effect": "lose", "amount": 1_000}]
            )
            before = cluster.status(leader, T)["leo"]
            writer.write()
            eventually_true(lambda before=before: cluster.status(leader, T)["leo"] > before)
            cluster.admin(leader)("transport-clear", key=1)
            writer.flush()

        assert cluster.status(leader, T)["leo"] == writer.written
        assert read_back(cluster, writer.written) == list(range(writer.written))


@pytest.mark.slow
def test_leaders_that_change(three_nodes, eventually_true):
    """The next leader knows the producer from the log that it replicated, also one that was killed in between."""
    with three_nodes() as cluster:
        writer = Writer(cluster)
        for target in (2, 3, 1, 2):
            writer.write()
            cluster.admin(0)("elect", partition=T, how="forced", target=target)
            eventually_true(lambda target=target: cluster.status(0, T)["leader"] == target)
        writer.write()
        cluster.kill(2)
        eventually_true(lambda: cluster.status(0, T)["leader"] not in (-1, 2))
        writer.flush()
        cluster.start(2)
        cluster.settled()
        cluster.admin(0)("elect", partition=T, how="forced", target=2)
        eventually_true(lambda: cluster.status(0, T)["leader"] == 2)
        writer.write()
        writer.flush()
        leader = cluster.settled()

        assert cluster.status(leader, T)["leo"] == writer.written
        assert read_back(cluster, writer.written) == list(range(writer.written))
