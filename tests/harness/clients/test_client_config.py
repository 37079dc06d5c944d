import pytest

from tidemark.harness.clients.client_config import ClientConfigError, read_client_config


def read(tmp_path, text):
    path = tmp_path / "client.properties"
    path.write_text(text)
    return read_client_config(path)


def test_kafkas_names_become_librdkafkas(tmp_path):
    assert read(
        tmp_path,
        """# of the cluster
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="canary" password="se\\"cret";
ssl.truststore.type=PEM
ssl.truststore.location=/etc/ca.pem
ssl.endpoint.identification.algorithm=
""",
    ) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "canary",
        "sasl.password": 'se"cret',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_a_key_store(tmp_path):
    assert read(tmp_path, "ssl.keystore.type=PEM\nssl.keystore.location=/k.pem\nssl.key.password=x\n") == {
        "ssl.certificate.location": "/k.pem",
        "ssl.key.location": "/k.pem",
        "ssl.key.password": "x",
    }
    assert read(tmp_path, "ssl.keystore.location=/k.p12\nssl.keystore.password=x\n") == {
        "ssl.keystore.location": "/k.p12",
        "ssl.keystore.password": "x",
    }


def test_librdkafkas_own_names(tmp_path):
    own = "security.protocol=ssl\nssl.ca.location=/ca.pem\nsasl.username=u\n"
    assert read(tmp_path, own) == {"security.protocol": "ssl", "ssl.ca.location": "/ca.pem", "sasl.username": "u"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("acks=1", "acks is no setting of TLS or SASL that is known here; leave it out"),
        ("ssl.truststore.location=/t.jks", "is a JKS file, which librdkafka cannot read; export it as PEM"),
        (
            "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;",
            "must be a PlainLoginModule or Scram",
        ),
        ("nothing", "line 1 is no setting; write NAME=VALUE"),
    ],
)
def test_what_cannot_be_used(tmp_path, text, sentence):
    with pytest.raises(ClientConfigError, match=sentence):
        read(tmp_path, text)


def test_no_file(tmp_path):
    with pytest.raises(ClientConfigError, match="cannot be read"):
        read_client_config(tmp_path / "nowhere")
