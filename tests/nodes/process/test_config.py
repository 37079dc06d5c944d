"""A configuration is taken whole or refused with one sentence."""

import copy
import json
from pathlib import Path

import pytest

from tidemark.nodes.admin.config_file import Address, ConfigError
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.process.config import ListenerConfig, NodeConfig

GOOD = {
    "node": 1,
    "incarnation": 3,
    "variant": "kafka-2.7+no-fetch-fence",
    "cluster": ClusterSpec().to_json(),
    "first_leader_epoch": 2,
    "listeners": {
        "internal": {"bind": "0.0.0.0:9092", "advertise": "10.77.0.11:9092"},
        "host": {"bind": "0.0.0.0:19092", "advertise": "127.0.0.1:40001"},
    },
    "peers": {str(n): f"10.77.0.{10 + n}:9092" for n in range(4)},
    "hosts": {str(n): f"127.0.0.1:{40_000 + n}" for n in range(1, 4)},
    "admin": "127.0.0.1:9990",
    "data": "/var/lib/tidemark/data",
    "volatile": "/var/lib/tidemark/volatile",
    "trace": "/var/log/tidemark/trace.jsonl",
    "given": {"note": "anything"},
}


def changed(**entries):
    return {**copy.deepcopy(GOOD), **entries}


def without(name):
    return {key: value for key, value in GOOD.items() if key != name}


def test_a_brokers_configuration():
    config = NodeConfig.from_json(GOOD)
    assert (config.node, config.incarnation, config.first_leader_epoch) == (1, 3, 2)
    assert config.variant.name == "kafka-2.7+no-fetch-fence"
    assert config.cluster == ClusterSpec()
    assert config.listeners["host"] == ListenerConfig(Address("0.0.0.0", 19_092), Address("127.0.0.1", 40_001))
    assert config.peers[0] == Address("10.77.0.10", 9092)
    assert str(config.hosts[3]) == "127.0.0.1:40003"
    assert config.data == Path("/var/lib/tidemark/data")
    assert config.given == {"note": "anything"}
    assert not config.is_controller


def test_a_controller_needs_less():
    data = changed(node=0, listeners={"internal": GOOD["listeners"]["internal"]})
    for name in ("hosts", "data", "volatile", "given", "first_leader_epoch"):
        del data[name]
    config = NodeConfig.from_json(data)
    assert config.is_controller
    assert (config.data, config.volatile, config.first_leader_epoch, config.hosts) == (None, None, 0, {})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "must be a JSON object"),
        (changed(surprise=1), "unknown entry 'surprise'"),
        *(
            (without(name), f"the entry '{name}' is missing")
            for name in ("node", "incarnation", "variant", "cluster", "admin", "trace", "data")
        ),
        (changed(node=4), "node must be 0 (the controller) or a broker from 1 to 3, not 4"),
        (changed(node=True), "node must be a whole number from 0"),
        (changed(incarnation=0), "incarnation must be a whole number from 1"),
        (changed(variant="kafka-9"), "unknown variant 'kafka-9'"),
        (changed(cluster={"brokers": 0}), "must each be at least 1"),
        (changed(cluster={"surprise": 0}), "cluster: unknown entry 'surprise'"),
        (changed(listeners={}), "listeners must have an entry 'internal'"),
        (changed(listeners={"internal": GOOD["listeners"]["internal"]}), "listeners must have an entry 'host'"),
        (changed(listeners={"external": {}}), "a listener is called 'internal' or 'host', not 'external'"),
        (changed(listeners={"internal": {"bind": "0.0.0.0:1"}}), "must have exactly the entries bind and advertise"),
        (changed(peers={"0": "10.0.0.1:1", "2": "10.0.0.1:1"}), "peers must have an address for node 1, 3"),
        (changed(peers={"one": "10.0.0.1:1"}), "peers must be keyed by node numbers"),
        (changed(hosts={}), "hosts must have an address for node 1, 2, 3"),
        (changed(admin="9990"), "admin must be an address such as 127.0.0.1:9092, not '9990'"),
        (changed(admin="h:70000"), "admin must be an address"),
        (changed(trace="trace.jsonl"), "trace must be an absolute path"),
        (changed(given=3), "given must be a JSON object"),
    ],
)
def test_what_cannot_be(data, words):
    with pytest.raises(ConfigError) as caught:
        NodeConfig.from_json(data)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files(tmp_path):
    path = tmp_path / "node.json"
    with pytest.raises(ConfigError, match=r"cannot read .*No such file"):
        NodeConfig.load(path)
    path.write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        NodeConfig.load(path)
    path.write_text(json.dumps(changed(node=9)))
    with pytest.raises(ConfigError, match=r"node\.json: node must be 0"):
        NodeConfig.load(path)
    path.write_text(json.dumps(GOOD))
    assert NodeConfig.load(path).node == 1
