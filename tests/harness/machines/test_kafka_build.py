"""A Kafka that somebody built: what it is, which version it calls itself, and what is no Kafka."""

import io
from zipfile import ZipFile, ZipInfo

import pytest

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.kafka_build import build_in_front, whole_build

HOW = "give an unpacked release of Kafka, as ./gradlew releaseTarGz packs it in a checkout of Kafka"


def jar(name, text):
    """With one entry."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as made:
        made.writestr(ZipInfo(name), text)
    return buffer.getvalue()


def clients(version):
    return jar("kafka/kafka-version.properties", f"commitId=0123456789abcdef\nversion={version}\n")


@pytest.fixture
def unpacked(tmp_path):
    """Writes a release with these jars, by their names."""

    def unpacked(**jars):
        libs = tmp_path / "kafka" / "libs"
        libs.mkdir(parents=True, exist_ok=True)
        found = {"kafka_2.13-x.jar": b"broker", "kafka-clients-x.jar": clients("4.4.0-SNAPSHOT"), **jars}
        for name, content in found.items():
            if content is not None:
                (libs / name).write_bytes(content)
        return libs.parent

    return unpacked


@pytest.fixture
def classes(tmp_path):
    folder = tmp_path / "classes"
    (folder / "kafka" / "cluster").mkdir(parents=True)
    (folder / "kafka" / "cluster" / "Partition.class").write_bytes(b"patched")
    (folder / "notes.txt").write_text("no class")
    return folder


# All of a Kafka


def test_a_folder_is_the_version_that_its_clients_jar_says(unpacked):
    found = whole_build(unpacked())

    assert (found.version, found.number, found.in_front) == ("4.4.0-SNAPSHOT", "4.4.0", False)
    assert found.edition == f"4.4.0-{found.digest}"


def test_its_jars_are_what_counts_and_not_where_they_lie(unpacked, tmp_path):
    before = whole_build(unpacked())
    elsewhere = (tmp_path / "kafka").rename(tmp_path / "elsewhere")
    (elsewhere / "LICENSE").write_text("Apache")

    assert whole_build(elsewhere).digest == before.digest
    assert [name for name, _ in whole_build(elsewhere).jars()] == ["kafka-clients-x.jar", "kafka_2.13-x.jar"]


def test_another_jar_is_another_build(unpacked):
    digests = {whole_build(unpacked()).digest, whole_build(unpacked(**{"kafka_2.13-x.jar": b"patched"})).digest}

    assert len(digests) == 2


def test_a_test_jar_of_the_clients_says_nothing(unpacked):
    assert whole_build(unpacked(**{"kafka-clients-a-test.jar": jar("x", "y")})).version == "4.4.0-SNAPSHOT"


def test_jars_that_change_under_a_command_are_refused(unpacked):
    found = whole_build(unpacked())
    unpacked(**{"kafka_2.13-x.jar": b"another"})

    with pytest.raises(ImageError, match="has changed since this command began: give the command again"):
        found.jars()


def test_no_folder_and_no_jars_are_a_sentence(tmp_path):
    with pytest.raises(ImageError) as error:
        whole_build(tmp_path / "none")
    assert str(error.value) == f"there is no folder {tmp_path}/none: {HOW}"

    with pytest.raises(ImageError) as error:
        whole_build(tmp_path)
    assert str(error.value) == f"{tmp_path} has no jars in its folder libs: {HOW}"


def test_a_folder_without_a_broker_or_a_version_is_a_sentence(unpacked):
    path = unpacked(**{"kafka-clients-x.jar": b"no jar"})
    with pytest.raises(ImageError) as error:
        whole_build(path)
    assert str(error.value) == (
        f"nobody can tell which Kafka {path} is: its jar kafka-clients is missing, or says no version in "
        "kafka/kafka-version.properties"
    )

    (path / "libs" / "kafka_2.13-x.jar").unlink()
    with pytest.raises(ImageError) as error:
        whole_build(path)
    assert str(error.value) == (f"{path}/libs has no broker among its 1 jars, such as kafka_2.13-4.3.1.jar: {HOW}")


# Classes in front of a release


def test_a_folder_of_classes_becomes_a_jar_that_is_always_the_same(classes):
    found = build_in_front("4.3.1", classes)
    (classes / "kafka" / "cluster" / "Partition.class").touch()

    ((name, content),) = build_in_front("4.3.1", classes).jars()
    with ZipFile(io.BytesIO(content)) as made:
        assert {one: made.read(one) for one in made.namelist()} == {"kafka/cluster/Partition.class": b"patched"}
    assert (name, found.version, found.in_front) == ("in-front.jar", "4.3.1", True)
    assert found.jars() == [(name, content)]


def test_a_jar_is_taken_as_it_is(tmp_path):
    patched = jar("kafka/Kafka.class", "patched")
    (tmp_path / "patched.jar").write_bytes(patched)

    assert build_in_front("4.3.1", tmp_path / "patched.jar").jars() == [("in-front.jar", patched)]


def test_without_classes_nothing_is_put_in_front(tmp_path):
    with pytest.raises(ImageError) as error:
        build_in_front("4.3.1", tmp_path)
    assert str(error.value) == f"{tmp_path} holds no compiled classes, so there is nothing to put in front of a release"

    with pytest.raises(ImageError) as error:
        build_in_front("4.3.1", tmp_path / "patch.diff")
    assert str(error.value) == (
        f"there is no folder of classes, and no jar, {tmp_path}/patch.diff to put in front of a release"
    )
