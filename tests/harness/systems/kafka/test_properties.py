from dataclasses import replace

import pytest

from tidemark.harness.systems.kafka.kafka_versions import KafkaVersion
from tidemark.harness.systems.kafka.properties import JvmPlace, server_properties, topic_configs, zookeeper_properties
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

OLD, NEW = KafkaVersion("2.8.2"), KafkaVersion("3.9.1")
BROKER = JvmPlace(2, "10.77.5.12", "127.0.0.1:40002", "10.77.5.10", "/data")
CONTROLLER = JvmPlace(0, "10.77.5.10", "", "10.77.5.10", "/data/kafka")


def cluster(**settings):
    return ClusterSpec(settings=replace(Settings(), **settings))


def made(kafka=OLD, protocol="1.1", place=BROKER, extra=None, **settings):
    return server_properties(kafka, protocol, cluster(**settings), place, extra)


def test_a_run_s_settings_are_kafka_s():
    found = made(
        min_isr=3, unclean_election=True, fetch_wait_us=250_000, request_timeout_us=500_000, lag_time_us=1_500_000,
        session_us=1_000_000, hw_checkpoint_us=2_000_000, log_start_checkpoint_us=7_000_000,
    )  # fmt: skip
    of_the_run = ("replica.", "timeout", "insync", "start.offset")
    assert {name: value for name, value in found.items() if any(word in name for word in of_the_run)} == {
        "min.insync.replicas": "3",
        "replica.lag.time.max.ms": "1500",
        "replica.fetch.wait.max.ms": "250",
        "replica.socket.timeout.ms": "750",
        "replica.fetch.backoff.ms": "500",
        "replica.fetch.max.bytes": str(50 * 16_384),
        "replica.high.watermark.checkpoint.interval.ms": "2000",
        "log.flush.start.offset.checkpoint.interval.ms": "7000",
        "controller.socket.timeout.ms": "2000",
        "zookeeper.session.timeout.ms": "1000",
        "zookeeper.connection.timeout.ms": "30000",
    }
    assert found["unclean.leader.election.enable"] == "true"
    assert found["default.replication.factor"] == found["offsets.topic.replication.factor"] == "3"
    assert found["log.dirs"] == "/data"


def test_a_broker_with_zookeeper_is_held_to_its_protocol():
    found = made(protocol="0.10.2")
    assert found["broker.id"] == "2"
    assert found["zookeeper.connect"] == "10.77.5.10:2181"
    assert found["inter.broker.protocol.version"] == found["log.message.format.version"] == "0.10.2"
    assert "process.roles" not in found


def test_the_controller_of_zookeeper_s_cluster_is_a_broker_beside_it():
    found = made(place=CONTROLLER)
    assert (found["broker.id"], found["zookeeper.connect"]) == ("0", "127.0.0.1:2182")
    assert made(place=replace(CONTROLLER, proxied=False))["zookeeper.connect"] == "127.0.0.1:2181"


def test_a_broker_with_kraft():
    found = made(NEW, "3.9", heartbeat_us=300_000)
    assert (found["process.roles"], found["node.id"]) == ("broker", "2")
    assert found["controller.quorum.voters"] == "0@10.77.5.10:9092"
    assert found["controller.listener.names"] == "CONTROLLER"
    assert (found["broker.session.timeout.ms"], found["broker.heartbeat.interval.ms"]) == ("1000", "300")
    assert not {"broker.id", "zookeeper.connect", "inter.broker.protocol.version"} & set(found)


def test_the_controller_of_kraft_has_one_listener_and_is_no_broker():
    found = made(NEW, "3.9", CONTROLLER)
    assert (found["process.roles"], found["node.id"]) == ("controller", "0")
    assert found["listeners"] == "CONTROLLER://127.0.0.1:9091"
    assert "inter.broker.listener.name" not in found
    assert found["broker.session.timeout.ms"] == "1000"


def test_krafts_controller_tells_where_its_proxy_listens_if_the_version_lets_it():
    assert made(NEW, "3.9", CONTROLLER)["advertised.listeners"] == "CONTROLLER://10.77.5.10:9092"
    assert "advertised.listeners" not in made(KafkaVersion("3.8.1"), "3.8", CONTROLLER)


def test_listeners_behind_a_proxy():
    found = made()
    assert found["listeners"] == "INTERNAL://127.0.0.1:9091,HOST://0.0.0.0:19092,SIDECAR://127.0.0.1:9093"
    assert found["advertised.listeners"] == (
        "INTERNAL://10.77.5.12:9092,HOST://127.0.0.1:40002,SIDECAR://10.77.5.12:9093"
    )
    assert found["inter.broker.listener.name"] == "INTERNAL"


def test_listeners_without_a_proxy():
    assert made(place=replace(BROKER, proxied=False))["listeners"].startswith("INTERNAL://0.0.0.0:9092,")


def test_every_listener_s_security_is_named():
    for kafka, place in ((OLD, BROKER), (NEW, BROKER), (NEW, CONTROLLER)):
        found = made(kafka, "2.8", place)
        used = {entry.split(":")[0] for entry in found["listeners"].split(",")}
        used |= set(filter(None, found.get("controller.listener.names", "").split(",")))
        assert used <= {entry.split(":")[0] for entry in found["listener.security.protocol.map"].split(",")}


def test_nothing_happens_by_itself():
    found = made()
    assert found["auto.create.topics.enable"] == found["auto.leader.rebalance.enable"] == "false"
    assert found["log.retention.ms"] == "-1"


def test_what_is_given_wins():
    found = made(extra={"replica.lag.time.max.ms": "9000", "anything.at.all": "x", "listeners": "L"})
    assert (found["replica.lag.time.max.ms"], found["anything.at.all"], found["listeners"]) == ("9000", "x", "L")


def test_a_longer_fetch_that_is_given_has_its_time():
    found = made(extra={"replica.fetch.wait.max.ms": "20000", "replica.lag.time.max.ms": "30000"})
    assert found["replica.socket.timeout.ms"] == "20500"


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"replica.fetch.wait.max.ms": "9000"}, "must not be above replica.lag.time.max.ms=1500"),
        ({"replica.socket.timeout.ms": "100"}, "must not be above replica.socket.timeout.ms=100"),
    ],
)
def test_times_with_which_no_broker_starts_are_refused(extra, words):
    with pytest.raises(SystemRefusalError, match=words):
        made(extra=extra)


def test_a_heartbeat_must_fit_into_a_session():
    with pytest.raises(SystemRefusalError, match=r"broker\.heartbeat\.interval\.ms=2000 must not be above"):
        made(NEW, "3.9", extra={"broker.heartbeat.interval.ms": "2000"})
    made(OLD, extra={"broker.heartbeat.interval.ms": "2000"})  # ZooKeeper's clients choose for themselves


def test_what_is_no_number_is_kafka_s_to_complain_about():
    assert made(extra={"replica.fetch.wait.max.ms": "soon"})["replica.fetch.wait.max.ms"] == "soon"


def test_no_time_becomes_none():
    found = made(hw_checkpoint_us=1_000, fetch_wait_us=1_499)
    assert (found["replica.high.watermark.checkpoint.interval.ms"], found["replica.fetch.wait.max.ms"]) == ("1", "1")


@pytest.mark.parametrize(("batches", "size"), [(1, 1), (2, 32_768), (50, 819_200)])
def test_so_many_batches_are_so_many_bytes(batches, size):
    assert made(max_fetch_batches=batches)["replica.fetch.max.bytes"] == str(size)


def test_zookeeper_ends_sessions_when_the_run_says():
    found = zookeeper_properties(cluster(session_us=6_000_000), "/data/zookeeper", proxied=True)
    assert (found["clientPort"], found["clientPortAddress"], found["dataDir"]) == (
        "2182",
        "127.0.0.1",
        "/data/zookeeper",
    )
    assert int(found["tickTime"]) == 300
    assert int(found["minSessionTimeout"]) <= 6000 <= int(found["maxSessionTimeout"])
    assert zookeeper_properties(cluster(), "/d", proxied=False)["clientPort"] == "2181"


def test_a_short_session_is_within_zookeeper_s_bounds():
    found = zookeeper_properties(cluster(session_us=60_000, heartbeat_us=20_000), "/d", proxied=True)
    assert int(found["tickTime"]) == 50
    assert int(found["minSessionTimeout"]) <= 60 <= int(found["maxSessionTimeout"])


def test_a_topic_s_promises_are_its_own():
    assert topic_configs(cluster(min_isr=2, unclean_election=False)) == {
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "false",
    }
