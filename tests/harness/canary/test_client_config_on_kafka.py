"""``--client-config`` against a real broker that wants TLS and SASL: what works, and in what sentence it ends if it does not."""

import subprocess
import time

import pytest
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from tests.harness.canary.test_canary_on_kafka import brokers, tidemark
from tidemark.harness.clients.client_config import read_client_config

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.systems]

LOGINS = "org.apache.kafka.common.security"
PROTOCOLS = "INTERNAL:PLAINTEXT,SIDECAR:PLAINTEXT,CONTROLLER:PLAINTEXT,HOST:"
PATIENCE_S = 60
"""For a refusal on a busy machine, the start of the program included; by itself it takes 1 to 8 s."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A folder with a CA, another CA, and what the first has signed for a broker and a client."""
    folder = tmp_path_factory.mktemp("keys")

    def openssl(words):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)

    for ca in ("ca", "other"):
        openssl(f"req -x509 -newkey rsa:2048 -nodes -keyout {ca}.key -out {ca}.pem -days 30 -subj /CN={ca}")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for who in ("broker", "client"):
        openssl(f"req -newkey rsa:2048 -nodes -keyout {who}.key -out {who}.csr -subj /CN={who}")
        signed = f"-CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out {who}.crt"
        openssl(f"x509 -req -in {who}.csr {signed}")
    (folder / "client.pem").write_text((folder / "client.key").read_text() + (folder / "client.crt").read_text())
    openssl("pkcs12 -export -in client.pem -out client.p12 -passout pass:stored")
    return folder


def listener(keys, protocol, **more):
    settings = {
        "listener.security.protocol.map": PROTOCOLS + protocol,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": (keys / "broker.key").read_text(),
        "ssl.keystore.certificate.chain": (keys / "broker.crt").read_text(),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": (keys / "ca.pem").read_text(),
        **more,
    }
    shape = "--brokers", "1", "--replication-factor", "1", "--min-isr", "1"
    return [*shape, *(word for entry in settings.items() for word in ("--broker-config", "{}={}".format(*entry)))]


def canary(bootstrap, folder, *lines, code=0):
    """What it says; with code 254 that is one sentence, which comes soon."""
    config = folder / "client.properties"
    config.write_text("\n".join(lines))
    words = "--seconds", "2", "--replication-factor", "1", "--client-config", str(config)
    began = time.monotonic()
    told = tidemark("canary", "--bootstrap", bootstrap, *words, "--out", str(folder / str(began)), code=code)
    if code:
        assert time.monotonic() - began < PATIENCE_S
        assert told.stderr.count("\n") == 1
    return told.stdout + told.stderr


def test_sasl_over_tls(keys, tmp_path):
    def login(mechanism, module, password="secret"):
        user = f'required username="canary" password="{password}";'
        return f"sasl.mechanism={mechanism}", f"sasl.jaas.config={LOGINS}.{module} {user}"

    plain, scram = login("PLAIN", "plain.PlainLoginModule"), login("SCRAM-SHA-512", "scram.ScramLoginModule")
    tls, trust = "security.protocol=SASL_SSL", f"ssl.truststore.location={keys}/ca.pem"
    words = listener(
        keys,
        "SASL_SSL",
        **{
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.host.plain.sasl.jaas.config": f'{LOGINS}.plain.PlainLoginModule required user_canary="secret";',
            "listener.name.host.scram-sha-512.sasl.jaas.config": f"{LOGINS}.scram.ScramLoginModule required;",
        },
    )
    with brokers("canary-sasl", *words) as bootstrap:
        assert "acknowledged, there: as promised" in canary(bootstrap, tmp_path, tls, trust, *plain)
        admin = AdminClient({"bootstrap.servers": bootstrap} | read_client_config(tmp_path / "client.properties"))
        credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        asked = UserScramCredentialUpsertion("canary", credential, b"secret")
        admin.alter_user_scram_credentials([asked])["canary"].result(timeout=30)
        assert "acknowledged, there: as promised" in canary(bootstrap, tmp_path, tls, trust, *scram)
        for lines, sentence in (
            (
                (tls, trust, *login("PLAIN", "plain.PlainLoginModule", "wrong")),
                "Authentication failed: Invalid username or password): check user, password and mechanism",
            ),
            (
                (tls, f"ssl.truststore.location={keys}/other.pem", *plain),
                "shows a certificate that no known CA has signed, or that is for another host name: set ssl.truststore.location",
            ),
            (
                ("security.protocol=SSL", trust),
                "closes the connection when it is asked for topics: it probably wants SASL",
            ),
            (("security.protocol=SASL_PLAINTEXT", *plain), "closes the connection at once: it probably wants TLS"),
            (("security.protocol=PLAINTEXT",), "closes the connection at once: it probably wants TLS"),
        ):
            assert sentence in canary(bootstrap, tmp_path, *lines, code=254)


def test_a_certificate_of_the_client(keys, tmp_path):
    tls = "security.protocol=SSL", f"ssl.truststore.location={keys}/ca.pem"
    words = listener(keys, "SSL", **{"listener.name.host.ssl.client.auth": "required"})
    with brokers("canary-tls", *words) as bootstrap:
        for store in (
            [f"ssl.keystore.location={keys}/client.pem"],
            [f"ssl.keystore.location={keys}/client.p12", "ssl.keystore.password=stored"],
        ):
            assert "acknowledged, there: as promised" in canary(bootstrap, tmp_path, *tls, *store)
        assert "wants a certificate of this client: set ssl.keystore.location" in canary(
            bootstrap, tmp_path, *tls, code=254
        )


def test_a_listener_that_is_plain(keys, tmp_path):
    tls = "security.protocol=SSL", f"ssl.truststore.location={keys}/ca.pem"
    with brokers("canary-plain", *listener(keys, "PLAINTEXT")) as bootstrap:
        assert "speaks no TLS: set security.protocol to PLAINTEXT" in canary(bootstrap, tmp_path, *tls, code=254)
        user = f'sasl.jaas.config={LOGINS}.plain.PlainLoginModule required username="a" password="b";'
        sasl = "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", user
        assert "takes no SASL: set security.protocol to PLAINTEXT" in canary(bootstrap, tmp_path, *sasl, code=254)
