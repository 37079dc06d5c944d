import pytest

from tidemark.harness.clients.client_config import ClientConfigError, read_client_config


def read(tmp_path, text):
    path = tmp_path / "client.properties"
    path.write_text(text)
    return read_client_config(path)


def store(tmp_path, content):
    path = tmp_path / "store"
    path.write_bytes(content)
    return path


PEM = b"a name\n-----BEGIN CERTIFICATE-----\n"


def test_kafkas_names_become_librdkafkas(tmp_path):
    trusted = store(tmp_path, PEM)
    assert read(
        tmp_path,
        f"""# of the cluster
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="canary" password="se\\"cret";
ssl.truststore.type=PEM
ssl.truststore.location={trusted}
ssl.endpoint.identification.algorithm=
""",
    ) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "canary",
        "sasl.password": 'se"cret',
        "ssl.ca.location": str(trusted),
        "ssl.endpoint.identification.algorithm": "none",
    }


@pytest.mark.parametrize("kind", ["", "ssl.keystore.type=JKS\n"])
def test_a_key_store_is_what_its_bytes_are(tmp_path, kind):
    path = store(tmp_path, PEM)
    assert read(tmp_path, f"{kind}ssl.keystore.location={path}\nssl.key.password=x\n") == {
        "ssl.certificate.location": str(path),
        "ssl.key.location": str(path),
        "ssl.key.password": "x",
    }
    store(tmp_path, b"0\x82")
    assert read(tmp_path, f"{kind}ssl.keystore.location={path}\nssl.keystore.password=x\n") == {
        "ssl.keystore.location": str(path),
        "ssl.keystore.password": "x",
    }


@pytest.mark.parametrize(
    ("which", "content", "sentence"),
    [
        ("truststore", b"\xfe\xed\xfe\xed", "ssl.truststore.location is a JKS file.* keytool -exportcert -rfc"),
        ("truststore", b"0\x82", "ssl.truststore.location is a PKCS12 file.* keytool -exportcert -rfc"),
        ("keystore", b"\xfe\xed\xfe\xed", "ssl.keystore.location is a JKS file.* keytool -importkeystore"),
    ],
)
def test_stores_that_librdkafka_cannot_read(tmp_path, which, content, sentence):
    with pytest.raises(ClientConfigError, match=sentence):
        read(tmp_path, f"ssl.{which}.location={store(tmp_path, content)}")


def test_librdkafkas_own_names(tmp_path):
    own = "security.protocol=ssl\nssl.ca.location=/ca.pem\nsasl.username=u\n"
    assert read(tmp_path, own) == {"security.protocol": "ssl", "ssl.ca.location": "/ca.pem", "sasl.username": "u"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("acks=1", "acks is no setting of TLS or SASL that is known here; leave it out"),
        (
            "ssl.truststore.location=/nowhere/ca.pem",
            "ssl.truststore.location names /nowhere/ca.pem, which cannot be read",
        ),
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
