"""Kafka's images: jars got once, from where they are wanted; the rest named by its content, and never stale."""

from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from docker.errors import ImageNotFound

from tidemark.harness.machines import image_build, kafka_image
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.kafka_image import (
    UPGRADE,
    ReadyKafka,
    build_kafka_image,
    build_upgrade_image,
    check_version,
)

ROOT = Path(__file__).parents[3]
RECIPE = ROOT / "docker" / "kafka"
POM = {"m": "http://maven.apache.org/POM/4.0.0"}


def quiet(sentence):
    """Say nothing."""


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """An empty cache folder: no lock of other builds is waited for."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class Engine:
    """Images by name, and a build that answers what a test wants."""

    def __init__(self, **images):
        self.images = self.api = self
        self.timeout = 60
        self.have = dict(images)
        self.steps = []
        self.asked = {}

    def get(self, name):
        if name not in self.have:
            raise ImageNotFound(name)
        return self.have[name]

    def pull(self, name):
        raise ImageNotFound(name)

    def build(self, **asked):
        self.asked = asked
        return iter(self.steps)


def image(id_, tags=(), **labels):
    return SimpleNamespace(id=id_, tags=list(tags), labels=labels)


def jars(source):
    return image("sha256:jars", ["tidemark/kafka-jars:3.9.1"], **{kafka_image.SOURCE_LABEL: source})


# Versions


@pytest.mark.parametrize("version", ["2.4.0", "2.8.2", "3.9.1", "4.1.1", "10.0.0"])
def test_a_version_is_three_numbers(version):
    check_version(version)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("2.8", "'2.8' is no version of Kafka; give its three numbers, such as 2.8.2"),
        ("latest", "'latest' is no version of Kafka; give its three numbers, such as 2.8.2"),
        ("2.8.2; rm", "'2.8.2; rm' is no version of Kafka; give its three numbers, such as 2.8.2"),
        (
            "2.3.1",
            (
                "Kafka 2.3.1 is older than 2.4.0, the oldest that is packaged here; "
                "2.8.2 speaks the protocols of older ones, such as kafka:2.8.2@0.10.2"
            ),
        ),
    ],
)
def test_what_cannot_be_a_version_is_refused_before_anything_is_built(version, why):
    with pytest.raises(ImageError) as error:
        build_kafka_image(Engine(), version, quiet)

    assert str(error.value) == why


# What goes in


def test_the_pom_names_kafka_and_one_logger_and_no_host():
    pom = ET.parse(RECIPE / "pom.xml").getroot()
    artifacts = [one.text for one in pom.findall("m:dependencies/m:dependency/m:artifactId", POM)]

    assert artifacts == ["kafka_2.13", "kafka-tools", "slf4j-simple"]
    left_out = pom.findall("m:dependencies/m:dependency[2]/m:exclusions/m:exclusion/m:artifactId", POM)
    assert [one.text for one in left_out] == ["*"]  # loggers among them
    assert pom.find("m:dependencies/m:dependency/m:version", POM).text == "${kafka}"
    assert not pom.findall(".//m:repositories", POM)
    assert not pom.findall(".//m:pluginRepositories", POM)


def test_the_code_comes_after_what_takes_long():
    steps = (RECIPE / "Dockerfile").read_text()

    assert steps.index("COPY --from=jars") < steps.index("prepare-kafka") < steps.index("COPY site-packages")
    assert steps.index("COPY site-packages") < steps.index("COPY tidemark")


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.jars", "Dockerfile.ready", "Dockerfile.built"])
def test_a_dockerfiles_first_steps_are_the_node_images_so_that_the_engine_has_them(name):
    node = (ROOT / "docker" / "node" / "Dockerfile").read_text()
    system = node[node.index("FROM ${BASE_IMAGE} AS system") : node.index("FROM system\n")]

    assert system in (RECIPE / name).read_text()


@pytest.mark.parametrize(
    ("files", "dockerfile"),
    [
        ([*kafka_image.BROKER_FILES, *kafka_image.NODE_FILES], "Dockerfile"),
        ([*kafka_image.JARS_FILES, *kafka_image.NODE_SYSTEM, "certificates.pem"], "Dockerfile.jars"),
        ([*kafka_image.READY_FILES, *kafka_image.NODE_SYSTEM], "Dockerfile.ready"),
        ([*kafka_image.BUILT_FILES, *kafka_image.NODE_SYSTEM, "libs"], "Dockerfile.built"),
        (["Dockerfile.in-front", "in-front"], "Dockerfile.in-front"),
    ],
)
def test_all_that_a_dockerfile_copies_is_in_its_context(files, dockerfile):
    lines = [line.split()[1:-1] for line in (RECIPE / dockerfile).read_text().splitlines() if line.startswith("COPY ")]
    copied = {word for words in lines if not words[0].startswith("--from") for word in words}

    assert copied - {"site-packages", "tidemark"} <= set(files)
    assert set(files) - copied == {dockerfile}


def test_certificates_are_those_this_computer_is_told_to_trust(monkeypatch, tmp_path):
    (tmp_path / "trusted.pem").write_bytes(b"-----BEGIN CERTIFICATE-----\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))

    assert kafka_image.trusted_certificates() == b"-----BEGIN CERTIFICATE-----\n"

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setattr(kafka_image, "TRUSTED", ())
    assert kafka_image.trusted_certificates() == b""


# Names


def test_a_name_says_the_version_and_changes_with_everything_that_goes_in():
    recipe = [("Dockerfile", b"FROM x")]
    names = [
        kafka_image._name("3.9.1", recipe, image("base"), image("jars")),
        kafka_image._name("3.9.0", recipe, image("base"), image("jars")),
        kafka_image._name("3.9.1", [("Dockerfile", b"FROM y")], image("base"), image("jars")),
        kafka_image._name("3.9.1", recipe, image("other base"), image("jars")),
        kafka_image._name("3.9.1", recipe, image("base"), image("other jars")),
    ]

    assert len({name.partition("-")[2] for name in names}) == len(names)
    assert names[0].startswith("tidemark/kafka:3.9.1-")
    assert names[0] == kafka_image._name("3.9.1", list(recipe), image("base"), image("jars"))


def test_the_name_covers_the_code():
    assert "tidemark/nodes/core/broker.py" in dict(kafka_image._recipe())


# Where the jars are from


def test_jars_of_a_build_are_found_by_their_digest_and_serve_no_release():
    source = {kafka_image.SOURCE_LABEL: "build 0123456789ab"}
    engine = Engine(**{"tidemark/kafka-jars:4.3.1-0123456789ab": image("sha256:jars", **source)})

    assert kafka_image._local_jars(engine, "4.3.1-0123456789ab", None) is not None
    assert kafka_image._local_jars(engine, "4.3.1-ba9876543210", None) is None
    assert kafka_image._local_jars(engine, "4.3.1", None) is None


def test_jars_from_maven_serve_as_long_as_they_are_asked_for_in_the_same_way(monkeypatch):
    engine = Engine(**{"tidemark/kafka-jars:3.9.1": jars(kafka_image._maven_source())})

    assert kafka_image._local_jars(engine, "3.9.1", None) is not None
    assert kafka_image._local_jars(engine, "3.9.0", None) is None
    assert kafka_image._local_jars(engine, "3.9.1", ReadyKafka("example/kafka")) is None
    monkeypatch.setattr(kafka_image, "_maven_source", lambda: "maven of another pom")
    assert kafka_image._local_jars(engine, "3.9.1", None) is None


def test_jars_of_a_ready_image_are_remembered_until_others_are_asked_for():
    engine = Engine(**{"tidemark/kafka-jars:3.9.1": jars("example/kafka /opt/kafka/libs")})

    assert kafka_image._local_jars(engine, "3.9.1", None) is not None
    assert kafka_image._local_jars(engine, "3.9.1", ReadyKafka("example/kafka")) is not None
    assert kafka_image._local_jars(engine, "3.9.1", ReadyKafka("example/kafka", "/srv")) is None
    assert kafka_image._local_jars(engine, "3.9.1", ReadyKafka("example/other")) is None


def test_a_ready_image_that_cannot_be_had_is_one_sentence():
    with pytest.raises(ImageError) as error:
        kafka_image._get_jars(Engine(), "3.9.1", image("base"), ReadyKafka("example/kafka"), quiet)

    assert str(error.value) == (
        "the registry has no image example/kafka; name another ready image, or leave it away: Maven has Kafka, too"
    )


def test_a_ready_image_without_the_folder_is_one_sentence():
    engine = Engine(**{"example/kafka": image("ready", ["example/kafka"])})
    engine.steps = [{"error": "COPY failed: stat srv: file does not exist"}]

    with pytest.raises(ImageError) as error:
        kafka_image._get_jars(engine, "3.9.1", image("base"), ReadyKafka("example/kafka", "/srv"), quiet)

    assert str(error.value) == "example/kafka has no folder /srv; say where its jars are with --ready-libs"
    assert engine.asked["buildargs"] == {
        "BASE_IMAGE": "base",
        "KAFKA": "3.9.1",
        "READY": "example/kafka",
        "LIBS": "/srv",
    }


def test_a_step_that_knows_why_it_fails_has_the_last_word():
    engine = Engine()
    engine.steps = [
        {"stream": "Step 1/2 : RUN sh fetch-jars\n"},
        {"stream": "tidemark: there is no Kafka 9.9.9\n"},
        {"error": "The command returned a non-zero code: 1"},
    ]

    with pytest.raises(ImageError) as error:
        image_build.build(engine, [], {})
    assert str(error.value) == "there is no Kafka 9.9.9"

    del engine.steps[1]
    with pytest.raises(ImageError) as error:
        image_build.build(engine, [], {}, what="Kafka 9.9.9")
    assert str(error.value) == (
        "Kafka 9.9.9 cannot be built: The command returned a non-zero code: 1 (Step 1/2 : RUN sh fetch-jars)"
    )


# Two releases in one


def test_an_upgrades_image_is_built_of_both_once(monkeypatch):
    monkeypatch.setattr(kafka_image, "build_kafka_image", lambda _client, version, _tell: f"sha256:{version}")
    asked = []

    def build(client, files, arguments, **more):
        asked.append((dict(files).keys(), arguments, more["dockerfile"], more["labels"]))
        client.have[more["tag"]] = image("sha256:both", [more["tag"]])
        return "sha256:both"

    monkeypatch.setattr(kafka_image, "build", build)
    engine = Engine()
    engine.list = lambda **_: []

    assert [build_upgrade_image(engine, "3.9.2", "4.3.1", quiet) for _ in range(2)] == ["sha256:both"] * 2
    arguments = {"OLDER_IMAGE": "sha256:3.9.2", "NEWER_IMAGE": "sha256:4.3.1", "OLDER": "3.9.2", "NEWER": "4.3.1"}
    assert asked == [({"Dockerfile.upgrade"}, arguments, "Dockerfile.upgrade", {"tidemark.image": UPGRADE})]
