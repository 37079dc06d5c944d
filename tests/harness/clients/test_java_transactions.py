"""Kafka's Java client is told what librdkafka would be, in its own words; without a JDK there is none."""

import shutil

import pytest

from tidemark.harness.clients.confluent_settings import transactional_settings
from tidemark.harness.clients.errors import ClientsError
from tidemark.harness.clients.java_transactions import JavaProducers, java_settings
from tidemark.nodes.core.cluster import ClusterSpec


def settings():
    return java_settings(transactional_settings("127.0.0.1:1", "p1", ClusterSpec()))


def test_its_settings_are_those_of_librdkafka():
    found = settings()
    assert (found["bootstrap.servers"], found["acks"], found["enable.idempotence"]) == ("127.0.0.1:1", "all", "true")
    assert found["transaction.timeout.ms"] == "3000"
    assert "transactional.id" not in found  # each producer's own


def test_a_record_is_tried_for_longer_than_one_request():
    found = settings()
    assert int(found["delivery.timeout.ms"]) >= int(found["request.timeout.ms"]) + int(found["linger.ms"])


def test_without_a_jdk_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ClientsError, match=r"needs a JDK here \(java and javac"):
        JavaProducers("127.0.0.1:1", ClusterSpec(), {})


def test_a_program_that_cannot_be_compiled_is_one_sentence(program):
    program("javac")
    with pytest.raises(ClientsError, match=r"javac cannot compile Transactions\.java"):
        JavaProducers("127.0.0.1:1", ClusterSpec(), {})  # without Kafka's jars
