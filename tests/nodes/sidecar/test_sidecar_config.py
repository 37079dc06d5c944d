"""The configuration of a sidecar."""

import json
import re

import pytest

from tidemark.nodes.admin.config_file import Address, ConfigError, load
from tidemark.nodes.sidecar.config import SidecarConfig


@pytest.fixture
def entries():
    return {
        "node": 1,
        "incarnation": 3,
        "version": "2.8.2",
        "role": "broker",
        "properties": {"broker.id": 1, "auto.create.topics.enable": False, "log.dirs": "/data"},
        "heap": "320m",
        "jvm_options": ["-XX:+UseSerialGC"],
        "libs": "/opt/kafka/libs",
        "proxies": [{"listen": "0.0.0.0:9092", "to": "127.0.0.1:9091", "speaks": "kafka"}],
        "peers": {"10.77.0.10": 0, "10.77.0.11": 1},
        "partitions": {"t-0": [1, 2, 3]},
        "kafka": "127.0.0.1:9093",
        "admin": "127.0.0.1:9990",
        "data": "/data",
        "trace": "/log/trace.jsonl",
        "process": "/run/node.pid",
        "given": {"anything": 1},
    }


def test_a_broker(entries):
    config = SidecarConfig.from_json(entries)
    assert (config.node, config.incarnation, config.is_controller, config.is_kraft) == (1, 3, False, False)
    assert config.properties == {"broker.id": "1", "auto.create.topics.enable": "false", "log.dirs": "/data"}
    ((listen, to, speaks),) = config.proxies
    assert (listen, to, speaks) == (Address("0.0.0.0", 9092), Address("127.0.0.1", 9091), "kafka")
    assert config.partitions == {"t-0": (1, 2, 3)}
    assert config.peers == {"10.77.0.10": 0, "10.77.0.11": 1}
    assert config.zookeeper == {}


def test_the_controllers_machine(entries):
    entries |= {"node": 0, "role": "zookeeper", "zookeeper": {"dataDir": "/zk", "clientPort": 2182}}
    config = SidecarConfig.from_json(entries)
    assert config.is_controller
    assert config.zookeeper == {"dataDir": "/zk", "clientPort": "2182"}
    entries |= {"role": "kraft-controller"}
    entries["properties"]["process.roles"] = "controller"
    config = SidecarConfig.from_json(entries)
    assert config.is_controller
    assert config.is_kraft


def test_quiet_is_for_who_asks(entries):
    assert not SidecarConfig.from_json(entries).quiet
    assert SidecarConfig.from_json(entries | {"quiet": True}).quiet


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"node": -1}, "node must be a whole number from 0"),
        ({"node": True}, "node must be a whole number"),
        ({"incarnation": 0}, "incarnation must be a whole number from 1"),
        ({"role": "king"}, "role must be one of broker, zookeeper, kraft-controller, not 'king'"),
        ({"node": 0}, "node 0 is the controller's machine"),
        ({"role": "kraft-controller"}, "node 1 cannot have the role 'kraft-controller'"),
        ({"role": "zookeeper", "node": 0}, "the entry 'zookeeper' is missing"),
        ({"role": "zookeeper", "node": 0, "zookeeper": {}}, "zookeeper must have the entries dataDir and clientPort"),
        ({"properties": []}, "properties must be a JSON object"),
        ({"properties": {"a": None}}, "properties.a must be a text or a number"),
        ({"heap": ""}, "heap must be a text that is not empty"),
        ({"jvm_options": [1]}, "jvm_options must be a list of texts"),
        ({"jvm_options": "-X"}, "jvm_options must be a list"),
        ({"libs": "libs"}, "libs must be an absolute path"),
        ({"proxies": [{}]}, "a proxy must have exactly the entries"),
        (
            {"proxies": [{"listen": "a:1", "to": "a:2", "speaks": "http"}]},
            "a proxy speaks one of kafka, controller, zookeeper",
        ),
        ({"proxies": [{"listen": "a", "to": "a:2", "speaks": "kafka"}]}, "proxies.listen must be an address"),
        ({"peers": {"10.77.0.10": "one"}}, "peers.10.77.0.10 must be a node's number"),
        ({"partitions": {"t": [1]}}, "a partition has a name such as t-0, not 't'"),
        ({"partitions": {"t-0": [0]}}, "partitions.t-0 must be a list of brokers"),
        ({"kafka": "127.0.0.1:0"}, "kafka must be an address such as"),
        ({"admin": "9990"}, "admin must be an address such as"),
        ({"quiet": 1}, "quiet must be true or false, not 1"),
        ({"speed": 1}, "unknown entry 'speed'"),
    ],
)
def test_what_cannot_be(entries, change, words):
    with pytest.raises(ConfigError, match=re.escape(words)):
        SidecarConfig.from_json(entries | change)


def test_what_is_missing(entries):
    for name in ("node", "version", "properties", "data", "process"):
        with pytest.raises(ConfigError, match=f"the entry '{name}' is missing"):
            SidecarConfig.from_json({key: value for key, value in entries.items() if key != name})


def test_files(entries, tmp_path):
    path = tmp_path / "node.json"
    with pytest.raises(ConfigError, match="cannot read"):
        load(path, SidecarConfig.from_json)
    path.write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        load(path, SidecarConfig.from_json)
    path.write_text("[]")
    with pytest.raises(ConfigError, match="must be a JSON object"):
        load(path, SidecarConfig.from_json)
    path.write_text(json.dumps(entries))
    assert load(path, SidecarConfig.from_json).node == 1
