"""What a sidecar is told is what a sidecar understands; the ports fit together from one node to the next."""

from dataclasses import replace

import pytest

from tidemark.harness.systems.kafka.system import KafkaSystem
from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.sidecar.config import BROKER, KRAFT_CONTROLLER, ZOOKEEPER, SidecarConfig


@pytest.fixture
def told(deployment):
    """What a node of such a system is told, as its sidecar reads it."""

    def told(text, node, preset=None, *, proxied=True, incarnation=1, two=False, fails=False, **broker_config):
        system = KafkaSystem.parse(text, {key.replace("_", "."): value for key, value in broker_config.items()})
        system.proxied = proxied
        run = replace(deployment(preset or system.default_variant), two_log_directories=two, log_directories_fail=fails)
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


@pytest.mark.parametrize(("text", "nodes"), [("kafka:4.3.1", (1, 2)), ("kafka:4.3.1@3-controllers", (1,))])
def test_where_log_directories_fail_brokers_keep_the_metadata_log_elsewhere(told, text, nodes):
    for node in nodes:
        config = told(text, node, two=True, fails=True)
        assert config.properties["metadata.log.dir"] == "/var/lib/tidemark/metadata"
        assert config.properties["log.dirs"] == told(text, node, two=True).properties["log.dirs"]
    assert told(text, 0, two=True, fails=True) == told(text, 0)


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


# A quorum of controllers

QUORUM = "kafka:4.3.1@3-controllers"


def test_node_0_and_the_first_two_brokers_are_controllers(told):
    configs = [told(QUORUM, node) for node in range(4)]

    assert [config.properties["process.roles"] for config in configs] == [
        "controller",
        "broker,controller",
        "broker,controller",
        "broker",
    ]
    assert [config.votes for config in configs] == [True, True, True, False]
    assert all(config.quorum for config in configs)
    assert [config.role for config in configs] == [KRAFT_CONTROLLER, BROKER, BROKER, BROKER]


@pytest.mark.parametrize("proxied", [True, False])
def test_all_find_each_controller_where_it_or_its_proxy_listens(told, proxied):
    configs = [told(QUORUM, node, proxied=proxied) for node in range(4)]
    (voters,) = {config.properties["controller.quorum.voters"] for config in configs}

    for voter in voters.split(","):
        node, _, place = voter.partition("@")
        address, _, port = place.partition(":")
        config = configs[int(node)]
        (listener,) = [
            url.removeprefix("CONTROLLER://")
            for url in config.properties["listeners"].split(",")
            if url.startswith("CONTROLLER://")
        ]
        assert address == f"10.77.4.1{node}"
        assert f"CONTROLLER://{address}:{port}" in config.properties["advertised.listeners"]
        if proxied:
            (proxy,) = [one for one in config.proxies if str(one.listen.port) == port]
            assert str(proxy.to) == listener == str(config.controls)
        else:
            assert listener.partition(":")[2] == port == str(config.controls.port)


def test_before_a_broker_s_controller_stands_a_proxy_that_knows_a_controller_s_messages(told):
    assert [proxy.speaks for proxy in told(QUORUM, 1).proxies] == ["kafka", "controller"]
    assert [proxy.speaks for proxy in told(QUORUM, 3).proxies] == ["kafka"]


def test_controllers_before_3_9_do_not_tell_their_address(told):
    assert "CONTROLLER://" not in told("kafka:3.7.2@3-controllers", 1).properties["advertised.listeners"]


def test_the_metadata_log_of_a_broker_lies_beside_the_disk_that_is_lost(told):
    properties = told(QUORUM, 1).properties

    assert properties["metadata.log.dir"] == "/var/lib/tidemark/metadata"
    assert properties["log.dirs"] == "/var/lib/tidemark/data"
    assert "metadata.log.dir" not in told(QUORUM, 3).properties


def test_snapshots_are_made_within_a_run_unless_somebody_wants_others(told):
    assert told(QUORUM, 3).properties["metadata.log.max.snapshot.interval.ms"] == "5000"
    others = told(QUORUM, 3, metadata_log_max_snapshot_interval_ms="60000").properties
    assert others["metadata.log.max.snapshot.interval.ms"] == "60000"
    assert "metadata.log.max.snapshot.interval.ms" not in told("kafka:4.3.1", 3).properties


def test_in_an_upgrade_every_controller_raises_what_the_cluster_can_do(told):
    upgrade = "kafka:3.9.2..4.3.1@3-controllers"

    assert [told(upgrade, node, incarnation=2).raises_features for node in range(4)] == [True, True, True, False]
    assert not told(upgrade, 1).raises_features


@pytest.mark.parametrize(
    ("workload", "coordinators"),
    [
        ("", {}),
        ("group-offsets", {"__consumer_offsets-0": (1, 2)}),
        ("share-group", {"__consumer_offsets-0": (3, 1), "__share_group_state-0": (2, 3)}),
    ],
)
def test_the_partitions_of_a_workloads_coordinators_are_told(deployment, workload, coordinators):
    run = replace(deployment("kafka-4.0"), workload=workload)
    told = SidecarConfig.from_json(KafkaSystem.parse("kafka:4.3.1", {}).configure(0, 1, run))
    assert told.coordinators == coordinators
