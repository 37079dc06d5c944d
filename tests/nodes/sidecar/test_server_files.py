"""The files that Kafka and ZooKeeper find when they start."""

from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.config import SidecarConfig
from tidemark.nodes.sidecar.server_files import (
    ServerFilesError,
    choose_release,
    format_directory,
    log_directory,
    metadata_directory,
    write_plain,
    write_properties,
)

FORMATTED = "#\n#Sat Nov 21 14:48:28 UTC 2026\nnode.id=0\nversion=1\ndirectory.id=abc\ncluster.id=XYZ\n"


@pytest.fixture
def config(tmp_path):
    data = tmp_path / "data"
    return SidecarConfig(
        node=2,
        incarnation=1,
        version="4.1.1",
        role="broker",
        properties={"process.roles": "broker", "node.id": "2", "log.dirs": str(data)},
        heap="320m",
        libs=Path("/opt/kafka/libs"),
        kafka=Address("127.0.0.1", 9093),
        admin=Address("127.0.0.1", 9990),
        data=data,
        trace=tmp_path / "trace",
        process=tmp_path / "pid",
    )


@pytest.fixture
def formatted(tmp_path):
    directory = tmp_path / "format"
    directory.mkdir()
    (directory / "meta.properties").write_text(FORMATTED)
    (directory / "bootstrap.checkpoint").write_bytes(b"features")
    return directory


def test_properties(tmp_path):
    path = tmp_path / "run" / "server.properties"
    write_properties(path, {"broker.id": "1", "a path": "C:\\x", "b": " leading", "c": "two\nlines", "d": "a=b#c"})
    assert path.read_text() == "broker.id=1\na\\ path=C:\\\\x\nb=\\ leading\nc=two\\nlines\nd=a=b#c\n"


def test_zoo_cfg(tmp_path):
    write_plain(tmp_path / "run" / "zoo.cfg", {"tickTime": "100", "dataDir": "/d"})
    assert (tmp_path / "run" / "zoo.cfg").read_text() == "tickTime=100\ndataDir=/d\n"


def test_directories(config):
    assert log_directory(config) == metadata_directory(config) == config.data
    properties = {"log.dirs": "/a, /b", "metadata.log.dir": "/m"}
    config = replace(config, properties=properties)
    assert (log_directory(config), metadata_directory(config)) == (Path("/a"), Path("/m"))
    assert log_directory(replace(config, properties={"log.dir": "/c"})) == Path("/c")
    assert log_directory(replace(config, properties={})) == config.data


def test_a_broker_of_a_kraft_cluster(config, formatted):
    format_directory(config, formatted)
    meta = config.data / "meta.properties"
    assert meta.read_text() == "version=1\ncluster.id=XYZ\nnode.id=2\n"
    assert [path.name for path in config.data.iterdir()] == ["meta.properties"]
    meta.write_text("what the broker made of it")
    format_directory(config, formatted)
    assert meta.read_text() == "what the broker made of it"


def test_a_broker_with_two_log_directories(config, formatted):
    both = [config.data / name for name in ("first", "second")]
    properties = config.properties | {"log.dirs": ",".join(map(str, both))}
    format_directory(replace(config, properties=properties), formatted)

    assert [(path / "meta.properties").read_text() for path in both] == ["version=1\ncluster.id=XYZ\nnode.id=2\n"] * 2


def test_where_a_log_directory_has_failed_nothing_is_put(config, formatted):
    both = [config.data / name for name in ("first", "second")]
    both[0].parent.mkdir(parents=True, exist_ok=True)
    both[0].touch()
    properties = config.properties | {"log.dirs": ",".join(map(str, both)), "metadata.log.dir": str(config.data / "m")}
    format_directory(replace(config, properties=properties), formatted)

    assert both[0].read_text() == ""
    assert [(config.data / name / "meta.properties").exists() for name in ("second", "m")] == [True, True]


def test_krafts_controller(config, formatted):
    config = replace(config, role="kraft-controller", node=0)
    format_directory(config, formatted)
    assert (config.data / "meta.properties").read_text() == FORMATTED
    assert (config.data / "bootstrap.checkpoint").read_bytes() == b"features"


def test_with_zookeeper_there_is_nothing_to_do(config, tmp_path):
    config = replace(config, properties={"log.dirs": str(config.data)})
    format_directory(config, tmp_path / "nowhere")
    assert list(config.data.iterdir()) == []


def test_an_image_without_a_formatted_directory(config, tmp_path):
    with pytest.raises(ServerFilesError, match=r"meta.properties is missing: build the image anew."):
        format_directory(config, tmp_path / "nowhere")


def test_of_two_releases_the_one_that_is_wanted_is_run(tmp_path):
    release = tmp_path / "kafka"
    for version in ("3.9.2", "4.3.1"):
        (tmp_path / f"kafka-{version}").mkdir()
        (tmp_path / f"kafka-{version}" / "which").write_text(version)
    release.symlink_to("kafka-3.9.2")

    for version in ("4.3.1", "4.3.1", "3.9.2"):
        choose_release(version, release)
        assert (release / "which").read_text() == version


def test_the_only_release_stays(tmp_path):
    release = tmp_path / "kafka"
    release.mkdir()

    choose_release("4.3.1", release)

    assert release.is_dir()
    assert not release.is_symlink()


def test_a_broker_that_is_one_of_several_controllers(config, formatted, tmp_path):
    metadata = tmp_path / "metadata"
    properties = config.properties | {"metadata.log.dir": str(metadata)}
    config = replace(config, properties=properties, quorum=True, controls=Address("127.0.0.1", 9094))
    format_directory(config, formatted)

    assert (metadata / "bootstrap.checkpoint").read_bytes() == b"features"
    assert [path.name for path in config.data.iterdir()] == ["meta.properties"]
    for directory in (metadata, config.data):
        assert (directory / "meta.properties").read_text() == "version=1\ncluster.id=XYZ\nnode.id=2\n"
