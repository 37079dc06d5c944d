import logging
import socket
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from tidemark.harness.canary import topic
from tidemark.harness.canary.canary_error import CanaryError
from tidemark.harness.canary.topic import Topics
from tidemark.harness.canary.unreached import Disconnections


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
        (("_AUTHENTICATION", "no"), r"refuses to authenticate this client \(no\): check user, password and mechanism"),
        (("_AUTHENTICATION", "Request not valid in current SASL state"), "takes no SASL: set security.protocol"),
        (("_SSL", "no"), r"cannot be spoken to with TLS \(no\): check security.protocol"),
        (("_SSL", "certificate verify failed: broker"), "shows a certificate that no known CA has signed"),
        (("_TRANSPORT", "alert certificate required"), "wants a certificate of this client: set ssl.keystore.location"),
        (("_TRANSPORT", "connecting to a PLAINTEXT broker listener?"), "speaks no TLS: set security.protocol"),
        (("_RESOLVE", "no"), r"has a name that nobody knows \(no\): check --bootstrap"),
    ],
)
def test_why_nobody_can_be_reached(nobody, said, sentence, monkeypatch):
    monkeypatch.setattr(Topics, "_note", lambda self, error: None)
    topics = Topics(nobody, {})
    topics._said.update([said])
    with pytest.raises(CanaryError, match=sentence):
        topics.brokers()


@pytest.mark.parametrize(
    ("logged", "sentence"),
    [
        (
            "Disconnected: connection closed by peer: receive 0 after POLLIN (after 3ms in state APIVERSION_QUERY)",
            "it probably wants TLS; set",
        ),
        ("Disconnected: SSL connection closed by peer (after 3ms in state UP)", "it probably wants SASL; set"),
        ("Disconnected: SSL connection closed by peer (after 3ms in state APIVERSION_QUERY)", "check host and port"),
        ("connection refused (after 3ms in state CONNECT)", "check host and port"),
    ],
)
def test_who_closes_connections_says_so_in_librdkafkas_log_alone(nobody, logged, sentence):
    topics = Topics(nobody, {})
    Disconnections(topics._said).emit(logging.makeLogRecord({"msg": f"FAIL [p]: {nobody}: {logged}"}))
    with pytest.raises(CanaryError, match=sentence):
        topics.brokers()


def test_what_librdkafka_puts_around_a_reason_is_left_out(nobody):
    topics = Topics(nobody, {})
    topics._note(
        KafkaError(KafkaError._SSL, "ssl://h:1/bootstrap: error:0A0000F4:no (after 3ms in state SSL_HANDSHAKE)")
    )
    assert topics._said == {"_SSL": "no"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"security.protocol": "nonsense"}, r"settings are refused: Invalid.*; mend the file of --client-config"),
        (
            {"security.protocol": "sasl_ssl", "sasl.mechanism": "GSSAPI"},
            "cannot do the mechanism of sasl.mechanism: use PLAIN",
        ),
    ],
)
def test_settings_that_librdkafka_refuses(nobody, settings, sentence):
    with pytest.raises(CanaryError, match=sentence):
        Topics(nobody, settings)


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
