"""Times and configurations: compressed, and honest."""

import pytest
from confluent_kafka import Consumer, Producer

from tidemark.harness.clients.confluent_settings import consumer_settings, producer_settings
from tidemark.harness.clients.times import Times
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

NOWHERE = "127.0.0.1:1"


def settings(acks, factor=1.0):
    return producer_settings(NOWHERE, "p1", ClusterSpec(acks=acks, settings=Settings().scaled(factor)))


def test_times_scale_with_the_cluster():
    assert Times.of(Settings()) == Times(produce=1500, retry=50, most_retry=250, metadata=500, fetch_wait=100)
    assert Times.of(Settings().scaled(2)) == Times(
        produce=3000, retry=100, most_retry=500, metadata=1000, fetch_wait=100
    )
    assert min(Times.of(Settings().scaled(0.001))) >= 0


def test_acks_all_is_idempotent_and_repeats():
    found = settings("all")
    assert found["enable.idempotence"] is True
    assert "retries" not in found
    assert found["message.timeout.ms"] == found["request.timeout.ms"] == 1500


@pytest.mark.parametrize("acks", ["1", "0"])
def test_without_idempotence_nothing_in_doubt_is_repeated(acks):
    found = settings(acks)
    assert (found["acks"], found["enable.idempotence"], found["retries"]) == (acks, False, 0)


@pytest.mark.parametrize("factor", [0.02, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_librdkafka_takes_them(acks, factor):
    cluster = ClusterSpec(acks=acks, settings=Settings().scaled(factor))
    Producer(producer_settings(NOWHERE, "p1", cluster) | {"log_level": 0, "error_cb": str}).close()
    Consumer(consumer_settings(NOWHERE, "c1", cluster) | {"log_level": 0, "error_cb": str}).close()


def test_consumers_read_to_the_high_watermark_and_commit_nothing():
    found = consumer_settings(NOWHERE, "c1", ClusterSpec())
    assert found["isolation.level"] == "read_uncommitted"
    assert found["enable.auto.commit"] is False
    assert found["auto.offset.reset"] == "earliest"
    assert found["socket.timeout.ms"] >= found["fetch.wait.max.ms"] + 1000


def test_without_idempotence_acks_all_gives_up_at_the_first_doubt():
    settings = producer_settings(NOWHERE, "p1", ClusterSpec(), idempotent=False)

    assert settings["acks"] == "all"
    assert settings["enable.idempotence"] is False
    assert settings["retries"] == 0
