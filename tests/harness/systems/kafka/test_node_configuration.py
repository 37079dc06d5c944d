"""What a sidecar is told is what a sidecar understands; the ports fit together from one node to the next."""

from dataclasses import replace

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.config import BROKER, KRAFT_CONTROLLER, ZOOKEEPER, SidecarConfig


@pytest.fixture
def told(deployment):
    """What a node of such a system is told, as its sidecar reads it."""

    def told(text, node, preset=None, *, proxied=True, incarnation=1, two=False, **broker_config):
        system = KafkaSystem.parse(text, {key.replace("_", "."): value for key, value in broker_config.items()})
        system.proxied = proxied
        run = replace(deployment(preset or system.default_variant), two_log_directories=two)
        return SidecarConfig.from_json(system.configure(node, incarnation, run))

    return told


@pytest.mark.parametrize(
    ("text", "node", "role"),
    [
        ("kafka:2.8.2", 0, ZOOKEEPER),
        ("kafka:2.8.2", 2, BROKER),
        ("kafka:3.9.1", 0, KRAFT_CONTROLLER),
        ("kafka:4.1.1", 3, BROKER),
    ],
)
def test_every_node_has_its_role(told, text, node, role):
    config = told(text, node, incarnation=4)

    assert (config.node, config.role, config.incarnation) == (node, role, 4)
    assert config.version == text.removeprefix("kafka:")
    assert config.partitions == {"t-0": (1, 2), "t-1": (2, 3)}
    assert config.peers == {f"10.77.4.1{n}": n for n in range(4)}


@pytest.mark.parametrize("text", ["kafka:2.8.2", "kafka:4.1.1"])
@pytest.mark.parametrize("node", [0, 1])
@pytest.mark.parametrize("proxied", [True, False])
def test_the_jvm_listens_where_its_proxies_and_its_keeper_dial(told, text, node, proxied):
    config = told(text, node, proxied=proxied)
    listening = {url.partition("://")[2] for url in config.properties["listeners"].split(",")}
    if config.zookeeper:
        listening.add(f"{config.zookeeper['clientPortAddress']}:{config.zookeeper['clientPort']}")

    def answers(address):
        return str(address) in listening or f"0.0.0.0:{address.port}" in listening

    assert answers(config.kafka)
    for proxy in config.proxies:
        assert answers(proxy.to)
        assert not answers(Address("127.0.0.1", proxy.listen.port))
    outside = {address.rpartition(":")[2] for address in listening if address.startswith("0.0.0.0")}
    outside |= {str(proxy.listen.port) for proxy in config.proxies}
    wanted = {"9092"} | ({"19092"} if node else set()) | ({"2181"} if config.zookeeper else set())
    assert outside == wanted
    assert bool(config.proxies) == proxied


def test_brokers_find_zookeeper_behind_the_proxy_of_node_0(told):
    (found,) = (proxy for proxy in told("kafka:2.8.2", 0).proxies if proxy.speaks == "zookeeper")

    assert told("kafka:2.8.2", 1).properties["zookeeper.connect"] == f"10.77.4.10:{found.listen.port}"


def test_brokers_find_kraft_s_controller_behind_the_proxy_of_node_0(told):
    (proxy,) = told("kafka:4.1.1", 0).proxies

    assert told("kafka:4.1.1", 1).properties["controller.quorum.voters"] == f"0@10.77.4.10:{proxy.listen.port}"


def test_a_brokers_logs_lie_on_the_disk_that_faults_strike(told):
    assert str(told("kafka:2.8.2", 1).data) == "/var/lib/tidemark/data"
    assert told("kafka:2.8.2", 1).properties["log.dirs"] == "/var/lib/tidemark/data"


@pytest.mark.parametrize("text", ["kafka:2.8.2", "kafka:4.3.1"])
def test_a_broker_has_two_log_directories_where_logs_are_moved_and_else_nothing_changes(told, text):
    two, one = told(text, 1, two=True), told(text, 1)

    assert two.properties["log.dirs"] == "/var/lib/tidemark/data/first,/var/lib/tidemark/data/second"
    assert {**two.properties, "log.dirs": one.properties["log.dirs"]} == one.properties
    assert told(text, 0, two=True) == told(text, 0)


def test_zookeeper_and_the_broker_beside_it_share_a_disk_and_no_folder(told):
    config = told("kafka:2.8.2", 0)

    assert config.properties["log.dirs"] == str(config.data) == "/var/lib/tidemark/data/kafka"
    assert config.zookeeper["dataDir"] == "/var/lib/tidemark/data/zookeeper"


@pytest.mark.parametrize(
    ("text", "preset", "protocol"),
    [
        ("kafka:2.8.2", "kafka-0.10", "0.10.2"),
        ("kafka:2.8.2", "kafka-2.0", "2.0"),
        ("kafka:2.8.2@1.1", "kafka-0.11", "1.1"),
    ],
)
def test_the_variant_of_the_run_is_the_brokers_protocol(told, text, preset, protocol):
    for node in (0, 1):
        assert told(text, node, preset).properties["inter.broker.protocol.version"] == protocol


def test_settings_that_were_asked_for_reach_every_node_and_win(told):
    for node in (0, 1):
        found = told("kafka:2.8.2", node, log_flush_interval_messages="1", min_insync_replicas="1").properties
        assert (found["log.flush.interval.messages"], found["min.insync.replicas"]) == ("1", "1")


@pytest.mark.parametrize("node", [0, 2])
def test_in_an_upgrade_each_start_is_told_its_own_release_and_nothing_else_changes(told, node):
    first, second = (told("kafka:3.9.2..4.3.1", node, incarnation=number) for number in (1, 2))

    assert (first.version, second.version) == ("3.9.2", "4.3.1")
    assert first.properties == second.properties == told("kafka:4.3.1", node).properties
    assert (first.raises_features, second.raises_features) == (False, node == 0)
