"""Kafka's images, built for real: what is in them, and that only a version's first build needs a network."""

import io
import tarfile
from contextlib import suppress
from zipfile import ZipFile

import pytest
from docker.errors import ImageNotFound
from missing import skip_without
from told_of_images import Told

from tidemark.harness.machines import kafka_image
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.kafka_build import build_in_front, whole_build
from tidemark.harness.machines.kafka_image import ReadyKafka, build_kafka_image, list_kafka_images
from tidemark.harness.machines.node_code import code_files

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow]

ZOOKEEPER_KAFKA = "2.8.2"
KRAFT_KAFKA = "4.1.1"


def quiet(sentence):
    """Say nothing."""


@pytest.fixture(scope="module")
def zookeeper_kafka(kafka_image):
    return kafka_image(ZOOKEEPER_KAFKA)


@pytest.fixture(scope="module")
def kraft_kafka(kafka_image):
    return kafka_image(KRAFT_KAFKA)


def said(engine, image, script):
    """What a script prints in a container without network."""
    output = engine.containers.run(image, ["-c", script], entrypoint="sh", network_mode="none", remove=True)
    return output.decode(errors="replace")


def test_a_second_build_finds_the_first_ones_image(engine, kraft_kafka):
    told = Told()

    assert build_kafka_image(engine, KRAFT_KAFKA, told) == kraft_kafka
    assert told == []
    (found,) = (one for one in list_kafka_images(engine) if one.id == kraft_kafka)
    assert (found.current, found.version) == (True, KRAFT_KAFKA)
    assert found.name.startswith(f"tidemark/kafka:{KRAFT_KAFKA}-")


@pytest.mark.systems
def test_other_code_makes_another_image_without_a_network(engine, kraft_kafka, monkeypatch):
    files = [*code_files(), ("tidemark/nodes/added.py", b"here = True\n")]
    build = engine.api.build
    told = Told()
    with monkeypatch.context() as patch:
        patch.setattr(kafka_image, "code_files", lambda: iter(files))
        patch.setattr(kafka_image, "is_old", lambda image: False)  # images of this code stay, however old
        patch.setattr(engine.api, "build", lambda **asked: build(**asked, network_mode="none"))
        patch.setattr(engine.images, "pull", lambda name: pytest.fail(f"asked a registry for {name}"))
        other = build_kafka_image(engine, KRAFT_KAFKA, told)
    try:
        assert other != kraft_kafka
        assert told == [f"building the image of Kafka {KRAFT_KAFKA}"]
        assert (
            said(engine, other, "python3 -c 'import tidemark.nodes.added; print(tidemark.nodes.added.here)'")
            == "True\n"
        )
        assert [one.current for one in list_kafka_images(engine) if one.id == other] == [False]
    finally:
        with suppress(ImageNotFound):
            engine.images.remove(other)


@pytest.mark.parametrize("version", [pytest.param(ZOOKEEPER_KAFKA, marks=pytest.mark.systems), KRAFT_KAFKA])
def test_a_broker_loads_its_classes_from_the_archive(engine, kafka_image, version):
    image = kafka_image(version)
    java = "java $(cat /opt/kafka/jvm-options) -Xshare:on -XX:+UseSerialGC -Xlog:class+load"

    for path in ('"$(cat /opt/kafka/classpath)"', "'/opt/kafka/libs/*'"):
        log = said(engine, image, f"{java} -cp {path} kafka.Kafka; true")
        assert "kafka.Kafka$ source: shared objects file" in log


def test_a_kraft_image_holds_a_formatted_directory_with_eligible_leader_replicas(engine, kraft_kafka):
    entries = said(engine, kraft_kafka, "cat /opt/kafka/format/meta.properties").splitlines()

    assert {"version=1", "node.id=0", "cluster.id=dGlkZW1hcmsta2Fma2EtMQ"} <= set(entries)
    assert said(engine, kraft_kafka, "grep -c eligible.leader.replicas /opt/kafka/format/bootstrap.checkpoint") == "1\n"


@pytest.mark.systems
def test_a_zookeeper_image_has_zookeeper_and_what_disturbs_a_node(engine, zookeeper_kafka):
    names = said(engine, zookeeper_kafka, "ls /opt/kafka/libs; which strace iptables; ls /opt/tidemark").split()

    assert "zookeeper-3.5.9.jar" in names
    assert {"/usr/bin/strace", "/usr/sbin/iptables", "libfaketime.so.1", "entrypoint", "tidemark"} <= set(names)
    assert said(engine, zookeeper_kafka, "cd / && python3 -c 'import crc32c, kio, tidemark.nodes'") == ""


def test_the_images_first_program_is_the_nodes(engine, kraft_kafka):
    container = engine.containers.create(kraft_kafka)
    try:
        container.start()
        assert container.wait()["StatusCode"] == 64
        assert b"TIDEMARK_AUTHORISED_KEY must hold" in container.logs()
    finally:
        container.remove(force=True)


@pytest.mark.systems
def test_a_version_that_does_not_exist_is_one_sentence(engine, kraft_kafka):
    with pytest.raises(ImageError) as error:
        build_kafka_image(engine, "2.8.99", quiet)

    if "Maven cannot get" in str(error.value):
        skip_without(f"Maven's repository: {error.value}")
    assert str(error.value) == (
        "there is no Kafka 2.8.99: Maven's repository has no org.apache.kafka:kafka_2.13:2.8.99"
    )


# A ready image


@pytest.fixture
def own_names(monkeypatch, engine):
    """What is built here gets names that nobody else uses, holds one state of the code, and is gone when the test is over."""
    code = list(code_files())
    monkeypatch.setattr(kafka_image, "code_files", lambda: iter(code))
    monkeypatch.setattr(kafka_image, "REPOSITORY", "tidemark/test-kafka")
    monkeypatch.setattr(kafka_image, "JARS_REPOSITORY", "tidemark/test-kafka-jars")
    monkeypatch.setattr(kafka_image, "KIND", "test-kafka")
    yield
    for repository in ("tidemark/test-kafka", "tidemark/test-kafka-jars", "tidemark/test-ready"):
        for image in engine.images.list(repository):
            for tag in image.tags:
                if tag.startswith(f"{repository}:"):
                    engine.images.remove(tag)


def ready_image(engine, *steps):
    """Somebody's image of Kafka 2.8.2: its jars are in /srv/kafka, and it logs to files."""
    lines = ["FROM tidemark/kafka-jars:2.8.2", "RUN mkdir /srv/kafka && cp /opt/kafka/libs/* /srv/kafka", *steps]
    text = "\n".join(lines).encode()
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    context.seek(0)
    return engine.images.build(fileobj=context, custom_context=True, tag="tidemark/test-ready:1", rm=True)[0]


@pytest.mark.systems
def test_a_ready_images_jars_are_taken_and_its_logger_is_not(engine, zookeeper_kafka, own_names):
    swap = "mv slf4j-simple-*.jar slf4j-reload4j-1.7.36.jar && cp jopt-simple-*.jar mark.jar"
    ready_image(engine, f"RUN cd /srv/kafka && {swap}")
    told = Told()

    made = build_kafka_image(engine, "2.8.2", told, ready=ReadyKafka("tidemark/test-ready:1", "/srv/kafka"))

    assert told == ["taking Kafka 2.8.2 from tidemark/test-ready:1", "building the image of Kafka 2.8.2"]
    names = said(engine, made, "ls /opt/kafka/libs").split()
    assert {"mark.jar", "slf4j-simple-debian.jar", "kafka_2.13-2.8.2.jar"} <= set(names)
    assert "slf4j-reload4j-1.7.36.jar" not in names

    # It is remembered, and may be gone.
    engine.images.remove("tidemark/test-ready:1")
    assert build_kafka_image(engine, "2.8.2", told) == made
    assert len(told) == 2


@pytest.mark.systems
@pytest.mark.parametrize(
    ("version", "libs", "why"),
    [
        ("2.8.1", "/srv/kafka", "the ready image holds no Kafka 2.8.1 in /srv/kafka"),
        (
            "2.8.2",
            "/srv/none",
            "tidemark/test-ready:1 has no folder /srv/none; say where its jars are with --ready-libs",
        ),
    ],
)
def test_a_ready_image_that_will_not_do_is_one_sentence(engine, zookeeper_kafka, own_names, version, libs, why):
    ready_image(engine)

    with pytest.raises(ImageError) as error:
        build_kafka_image(engine, version, quiet, ready=ReadyKafka("tidemark/test-ready:1", libs))

    assert str(error.value) == why


@pytest.mark.systems
def test_a_kafka_that_does_not_start_is_named_with_its_last_words(engine, zookeeper_kafka, own_names):
    ready_image(engine, "RUN rm /srv/kafka/scala-library-*.jar")

    with pytest.raises(ImageError, match=r"^Kafka 2\.8\.2 does not start on this Java: .*NoClassDefFoundError"):
        build_kafka_image(engine, "2.8.2", quiet, ready=ReadyKafka("tidemark/test-ready:1", "/srv/kafka"))


# A Kafka that somebody built


@pytest.fixture
def unpacked(engine, zookeeper_kafka, tmp_path):
    """The jars of a release, in a folder of this computer."""
    container = engine.containers.create("tidemark/kafka-jars:2.8.2", "true")
    try:
        packed = b"".join(container.get_archive("/opt/kafka/libs")[0])
    finally:
        container.remove()
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path


def sources(engine, image, name):
    """Where a JVM of this image finds a class."""
    path = '"$(cat /opt/kafka/classpath)"'
    log = said(engine, image, f"java -Xshare:off -Xlog:class+load -cp {path} kafka.Kafka; true")
    return [line.partition(f"{name} source: ")[2] for line in log.splitlines() if f" {name} source: " in line]


@pytest.mark.systems
def test_a_builds_jars_are_taken_and_its_images_are_apart_from_the_releases(engine, own_names, unpacked):
    (unpacked / "libs" / "mark.jar").write_bytes(next((unpacked / "libs").glob("jopt-simple-*.jar")).read_bytes())
    found = whole_build(unpacked)
    told = Told()

    made = build_kafka_image(engine, found.number, told, build_of=found)

    assert told == [f"taking Kafka 2.8.2 from {unpacked}", "building the image of Kafka 2.8.2"]
    assert {"mark.jar", "kafka_2.13-2.8.2.jar"} <= set(said(engine, made, "ls /opt/kafka/libs").split())
    (listed,) = (one for one in list_kafka_images(engine) if one.id == made)
    assert (listed.current, listed.version) == (True, f"2.8.2-{found.digest}")
    assert build_kafka_image(engine, found.number, told, build_of=found) == made
    assert len(told) == 2


@pytest.mark.systems
def test_a_class_that_is_put_in_front_is_taken_instead_of_the_releases(engine, zookeeper_kafka, unpacked, tmp_path):
    with ZipFile(unpacked / "libs" / "kafka_2.13-2.8.2.jar") as jar:
        jar.extract("kafka/Kafka.class", tmp_path / "classes")
    found = build_in_front("2.8.2", tmp_path / "classes")

    made = build_kafka_image(engine, "2.8.2", quiet, build_of=found)
    try:
        assert sources(engine, made, "kafka.Kafka") == ["file:/opt/kafka/in-front/in-front.jar"]
        assert sources(engine, made, "kafka.Kafka$") == ["file:/opt/kafka/libs/kafka_2.13-2.8.2.jar"]
    finally:
        for name in (made, f"tidemark/kafka-jars:{found.edition}"):
            engine.images.remove(name)
