"""Kafka's clients, unchanged, write 10,000 records with acks=all to three nodes, and read the same back."""

import asyncio
import subprocess

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, Producer, TopicPartition

COUNT = 10_000
RECORDS = [b"%d" % number for number in range(COUNT)]
PATIENCE_S = 60


def replicated(cluster):
    """All three logs hold every record."""
    cluster.settled()
    assert {cluster.status(broker, "t-0")["hw"] for broker in cluster.brokers} == {COUNT}


def test_kcat(three_nodes, program):
    kcat = [program("kcat"), "-b"]
    with three_nodes() as cluster:
        produce = [*kcat, cluster.bootstrap, "-P", "-t", "t", "-p", "0", "-X", "acks=all"]
        subprocess.run(produce, input=b"\n".join(RECORDS) + b"\n", check=True, timeout=PATIENCE_S)
        consume = [*kcat, cluster.bootstrap, "-C", "-t", "t", "-p", "0", "-o", "beginning", "-e", "-q"]
        read = subprocess.run(consume, check=True, timeout=PATIENCE_S, capture_output=True)

        assert read.stdout.split() == RECORDS
        replicated(cluster)


@pytest.mark.slow
def test_confluent_kafka_idempotent(three_nodes):
    with three_nodes() as cluster:
        offsets = []
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True})
        for record in RECORDS:
            producer.produce("t", record, partition=0, on_delivery=lambda error, m: offsets.append((error, m.offset())))
            producer.poll(0)
        assert producer.flush(PATIENCE_S) == 0
        assert offsets == [(None, offset) for offset in range(COUNT)]
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "none", "enable.auto.commit": False})
        consumer.assign([TopicPartition("t", 0, 0)])
        read = []
        while len(read) < COUNT:
            batch = consumer.consume(COUNT - len(read), PATIENCE_S)
            assert batch
            assert [message.error() for message in batch] == [None] * len(batch)
            read += [message.value() for message in batch]
        consumer.close()

        assert read == RECORDS
        replicated(cluster)


@pytest.mark.slow
def test_aiokafka(three_nodes):
    async def write_and_read(bootstrap):
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
        await producer.start()
        try:
            sent = [await producer.send("t", record, partition=0) for record in RECORDS]
            offsets = [metadata.offset for metadata in await asyncio.gather(*sent)]
        finally:
            await producer.stop()
        assert offsets == list(range(COUNT))
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap)
        await consumer.start()
        try:
            consumer.assign([AioPartition("t", 0)])
            await consumer.seek_to_beginning()
            return [(await consumer.getone()).value for _ in range(COUNT)]
        finally:
            await consumer.stop()

    with three_nodes() as cluster:
        assert asyncio.run(asyncio.wait_for(write_and_read(cluster.bootstrap), PATIENCE_S)) == RECORDS
        replicated(cluster)


# kafka-python 3.0 reads its message definitions with a function that Python 3.11 calls deprecated.
@pytest.mark.filterwarnings("ignore:(open|read)_text is deprecated:DeprecationWarning")
def test_kafka_python(three_nodes):
    from kafka import KafkaConsumer, KafkaProducer
    from kafka import TopicPartition as PythonPartition

    with three_nodes() as cluster:
        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, acks="all")
        sent = [producer.send("t", record, partition=0) for record in RECORDS]
        producer.flush(PATIENCE_S)
        assert [future.get(0).offset for future in sent] == list(range(COUNT))
        producer.close()
        consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap, consumer_timeout_ms=PATIENCE_S * 1000)
        consumer.assign([PythonPartition("t", 0)])
        consumer.seek_to_beginning()
        read = [next(consumer).value for _ in range(COUNT)]
        consumer.close()

        assert read == RECORDS
        replicated(cluster)
