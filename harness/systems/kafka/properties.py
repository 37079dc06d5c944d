"""The settings of real brokers, controllers, ZooKeeper and topics that a run's settings mean.

Times are whole milliseconds to Kafka. What the settings of a run do not say is chosen for a small machine and a short life, and
``extra`` (``--broker-config``) wins over all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.systems.system import SystemRefusalError
from nodes.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.systems.kafka.protocol_versions import KafkaVersion
    from nodes.cluster import ClusterSpec
    from nodes.settings import Settings

Properties = dict[str, str]

MS = 1_000
INTERNAL, HOST, KEEPER, CONTROLLERS = "INTERNAL", "HOST", "KEEPER", "CONTROLLER"
"""Listeners: of brokers for each other, for clients on the host, for the keeper; and of KRaft's controller."""

BATCH_BYTES = 16_384
"""What stands for one batch of ``max_fetch_batches``: a producer's ``batch.size``."""
LEAST_CONTROLLER_TIMEOUT_MS = 1_000
"""A new JVM's first answer to LeaderAndIsr takes some 0.5 s, and would be asked for again and again."""
LEAST_TICK_MS = 50
CONNECTION_TIMEOUT_MS = 30_000

_LIFE: Properties = {
    # Nothing happens by itself but what the protocol does.
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "log.cleaner.enable": "false",
    "log.retention.ms": "-1",
    "log.retention.check.interval.ms": "3600000",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.retry.backoff.ms": "500",
    # A machine with two cores and little memory.
    "num.network.threads": "1",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "log.index.size.max.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
}


@dataclass(frozen=True, slots=True)
class Listeners:
    """Where one node's JVM listens, and what others are told to connect to.

    Attributes:
        internal, host, keeper: ``ADDRESS:PORT`` to bind.
        advertised: of the internal listener. advertised_host: of the one for the host.
    """

    internal: str
    keeper: str
    advertised: str
    host: str = ""
    advertised_host: str = ""

    @property
    def advertised_keeper(self) -> str:
        """Nobody uses it, but no two brokers may say the same."""
        return f"{self.advertised.rpartition(':')[0]}:{self.keeper.rpartition(':')[2]}"


def broker_properties(
    kafka: KafkaVersion,
    cluster: ClusterSpec,
    node: int,
    listeners: Listeners,
    *,
    controller: str,
    log_dir: str,
    extra: Mapping[str, str] | None = None,
) -> Properties:
    """``server.properties`` of a broker; with ZooKeeper, node 0 is the broker that is to be the controller.

    Args:
        kafka: version and protocol.
        cluster: shape and settings of the run.
        node: its id.
        listeners: of this node; without ``host``, clients outside cannot reach it.
        controller: ``ADDRESS:PORT`` of ZooKeeper, or of KRaft's controller.
        log_dir: where its logs are.
        extra: settings that win.

    Raises:
        SystemRefusalError: no broker would start with these settings.
    """
    check_settings(cluster.settings)
    shown = [(INTERNAL, listeners.internal, listeners.advertised)]
    if listeners.host:
        shown.append((HOST, listeners.host, listeners.advertised_host))
    shown.append((KEEPER, listeners.keeper, listeners.advertised_keeper))
    found = {
        "listeners": ",".join(f"{name}://{bind}" for name, bind, _ in shown),
        "advertised.listeners": ",".join(f"{name}://{told}" for name, _, told in shown),
        "listener.security.protocol.map": ",".join(
            f"{name}:PLAINTEXT" for name in (INTERNAL, HOST, KEEPER, CONTROLLERS)
        ),
        "inter.broker.listener.name": INTERNAL,
        "log.dirs": log_dir,
        **_LIFE,
        **_replication(cluster),
        **(_with_zookeeper if kafka.uses_zookeeper else _with_kraft)(kafka, cluster, node, controller),
    }
    return _with_extra(found, extra)


def controller_properties(
    cluster: ClusterSpec,
    listeners: Listeners,
    *,
    log_dir: str,
    extra: Mapping[str, str] | None = None,
) -> Properties:
    """``server.properties`` of KRaft's controller, node 0. Its internal listener is the one that brokers register at.

    Args:
        cluster: shape and settings of the run.
        listeners: of this node; it has none for the host.
        log_dir: where the metadata log is.
        extra: settings that win.

    Raises:
        SystemRefusalError: no broker would start with these settings.
    """
    check_settings(cluster.settings)
    names = (CONTROLLERS, KEEPER)
    found = {
        "process.roles": "controller",
        "node.id": str(CONTROLLER),
        "controller.quorum.voters": f"{CONTROLLER}@{listeners.advertised}",
        "controller.listener.names": ",".join(names),
        "listeners": f"{CONTROLLERS}://{listeners.internal},{KEEPER}://{listeners.keeper}",
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
        "log.dirs": log_dir,
        **_LIFE,
        **_sessions_by_kraft(cluster.settings),
        "default.replication.factor": str(cluster.replication_factor),
        "min.insync.replicas": str(cluster.settings.min_isr),
        "unclean.leader.election.enable": _truth(cluster.settings.unclean_election),
    }
    return _with_extra(found, extra)


def zookeeper_properties(settings: Settings, *, bind: str, data_dir: str) -> Properties:
    """``zoo.cfg`` of a single server, which syncs every transaction to its disk, as it does by default.

    Args:
        settings: of the run.
        bind: ``ADDRESS:PORT``.
        data_dir: where snapshots and transaction logs are.
    """
    host, _, port = bind.rpartition(":")
    session = _ms(settings.session_us)
    return {
        "tickTime": str(max(LEAST_TICK_MS, session // 20)),
        # Sessions end at a whole tick; without these bounds they would last from two to twenty of them.
        "minSessionTimeout": str(min(session, 2 * LEAST_TICK_MS)),
        "maxSessionTimeout": str(max(session, CONNECTION_TIMEOUT_MS)),
        "dataDir": data_dir,
        "clientPort": port,
        "clientPortAddress": host,
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "preAllocSize": "1024",
        "4lw.commands.whitelist": "srvr,ruok",
    }


def topic_properties(cluster: ClusterSpec) -> Properties:
    """Settings of the run's topics."""
    return {
        "min.insync.replicas": str(cluster.settings.min_isr),
        "unclean.leader.election.enable": _truth(cluster.settings.unclean_election),
    }


def check_settings(settings: Settings) -> None:
    """Refuse what Kafka's brokers refuse when they start.

    Raises:
        SystemRefusalError: with the settings to change.
    """
    wait, lag = _ms(settings.fetch_wait_us), _ms(settings.lag_time_us)
    if wait > lag:
        raise SystemRefusalError(
            f"a follower's fetch may not wait {wait} ms where a replica counts as lagging after {lag} ms: Kafka's brokers start "
            "only with replica.fetch.wait.max.ms up to replica.lag.time.max.ms"
        )
    if 2 * settings.heartbeat_us > settings.session_us:
        raise SystemRefusalError(
            f"heartbeats every {_ms(settings.heartbeat_us)} ms cannot keep a session of {_ms(settings.session_us)} ms alive: "
            "make the session at least twice as long"
        )


def _replication(cluster: ClusterSpec) -> Properties:
    settings = cluster.settings
    wait, request = _ms(settings.fetch_wait_us), _ms(settings.request_timeout_us)
    factor = str(cluster.replication_factor)
    return {
        "default.replication.factor": factor,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "min.insync.replicas": str(settings.min_isr),
        "unclean.leader.election.enable": _truth(settings.unclean_election),
        "replica.lag.time.max.ms": str(_ms(settings.lag_time_us)),
        "replica.fetch.wait.max.ms": str(wait),
        # Time without an answer that was due: a fetch may be held back for the whole wait.
        "replica.socket.timeout.ms": str(wait + request),
        "replica.fetch.backoff.ms": str(min(request, 1000)),
        "replica.fetch.max.bytes": str(_fetch_bytes(settings.max_fetch_batches)),
        "replica.high.watermark.checkpoint.interval.ms": str(_ms(settings.hw_checkpoint_us)),
        "controller.socket.timeout.ms": str(max(request, LEAST_CONTROLLER_TIMEOUT_MS)),
    }


def _fetch_bytes(batches: int) -> int:
    """How many bytes stand for so many batches. The first batch comes whatever its size (KIP-74), so one byte means one batch."""
    return 1 if batches == 1 else batches * BATCH_BYTES


def _with_zookeeper(kafka: KafkaVersion, cluster: ClusterSpec, node: int, zookeeper: str) -> Properties:
    protocol = kafka.protocol or kafka.own_protocol
    return {
        "broker.id": str(node),
        "broker.id.generation.enable": "false",
        "zookeeper.connect": zookeeper,
        "zookeeper.session.timeout.ms": str(_ms(cluster.settings.session_us)),
        "zookeeper.connection.timeout.ms": str(CONNECTION_TIMEOUT_MS),
        "inter.broker.protocol.version": protocol,
        "log.message.format.version": protocol,
    }


def _with_kraft(_kafka: KafkaVersion, cluster: ClusterSpec, node: int, controller: str) -> Properties:
    return {
        "process.roles": "broker",
        "node.id": str(node),
        "controller.quorum.voters": f"{CONTROLLER}@{controller}",
        "controller.listener.names": CONTROLLERS,
        **_sessions_by_kraft(cluster.settings),
    }


def _sessions_by_kraft(settings: Settings) -> Properties:
    return {
        "broker.session.timeout.ms": str(_ms(settings.session_us)),
        "broker.heartbeat.interval.ms": str(_ms(settings.heartbeat_us)),
    }


def _with_extra(found: Properties, extra: Mapping[str, str] | None) -> Properties:
    return {**found, **(extra or {})}


def _ms(time_us: int) -> int:
    """At least 1: to Kafka 0 ms is no time-out or no interval at all."""
    return max(1, time_us // MS)


def _truth(value: bool) -> str:
    return "true" if value else "false"
