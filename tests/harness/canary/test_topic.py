import socket
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from tidemark.harness.canary import topic
from tidemark.harness.canary.canary_error import CanaryError
from tidemark.harness.canary.topic import Topics


@pytest.fixture
def nobody(monkeypatch):
    """An address where nobody listens."""
    monkeypatch.setattr(topic, "PATIENCE_S", 0.1)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def test_nobody_listens(nobody):
    with pytest.raises(CanaryError, match=f"no broker of {nobody} answers within 0.1 s.*: check host and port"):
        Topics(nobody, {}).brokers()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "_AUTHENTICATION",
            r"refuses to authenticate this client \(SASL says no\): check user, password and mechanism",
        ),
        ("_SSL", r"cannot be spoken to with TLS \(SASL says no\): check security.protocol"),
        ("_RESOLVE", r"has a name that nobody knows \(SASL says no\): check --bootstrap"),
    ],
)
def test_why_nobody_can_be_reached(nobody, said, sentence):
    topics = Topics(nobody, {})
    topics._said[said] = "SASL says no"
    with pytest.raises(CanaryError, match=sentence):
        topics.brokers()


def test_settings_that_librdkafka_refuses(nobody):
    with pytest.raises(CanaryError, match=r"the client's settings are refused: .*; mend the file of --client-config"):
        Topics(nobody, {"security.protocol": "nonsense"})


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
            "cannot make topic t: .*; grant this client CREATE, DELETE, READ and WRITE",
        ),
        (KafkaError.TOPIC_ALREADY_EXISTS, "cannot make topic t: .*; name another one with --topic"),
        (KafkaError.INVALID_REPLICATION_FACTOR, "cannot make topic t: .*; ask for fewer replicas"),
        (KafkaError.POLICY_VIOLATION, r"cannot make topic t: .*\(POLICY_VIOLATION\); ask whoever runs the cluster"),
    ],
)
def test_what_the_cluster_refuses(nobody, code, sentence):
    refused = Future()
    refused.set_exception(KafkaException(KafkaError(code)))
    with pytest.raises(CanaryError, match=sentence):
        Topics(nobody, {})._done(refused, "make topic t")
