"""The settings of real brokers, controllers, ZooKeeper and topics that a run's settings mean.

Times are whole milliseconds to Kafka. What the settings of a run do not say is chosen for a small machine and a short life, and
``extra`` (``--broker-config``) wins over all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.harness.clients.share_limits import DELIVERIES, LEAST_LOCK_MS, lock_ms
from tidemark.harness.machines.machine import HOST_PORT, INTERNAL_PORT
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.systems.kafka.kafka_versions import KafkaVersion
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.settings import Settings

Properties = dict[str, str]

MS = 1_000
BEHIND_PROXY_PORT, SIDECAR_PORT, BEHIND_ZOOKEEPER_PROXY_PORT, ZOOKEEPER_PORT = 9091, 9093, 2182, 2181
"""In a node's machine, beside those that every system has: the listener for other nodes behind its proxy, the sidecar's own,
ZooKeeper's behind its proxy, and ZooKeeper's for other nodes."""
BEHIND_QUORUM_PROXY_PORT, QUORUM_PORT = 9094, 9095
"""And where a broker is a controller, too: that one's listener behind its proxy, and for other nodes."""
INTERNAL, HOST, SIDECAR, CONTROLLERS = "INTERNAL", "HOST", "SIDECAR", "CONTROLLER"
"""Listeners: of brokers for each other, for clients on the host, for the sidecar; and of KRaft's controller."""

BATCH_BYTES = 16_384
"""What stands for one batch of ``max_fetch_batches``: a producer's ``batch.size``."""
LEAST_CONTROLLER_TIMEOUT_MS = 2_000
"""A new JVM's first answer takes some 0.5 s, more on a busy machine, and must not be asked for again and again."""
LEAST_TICK_MS = 50
CONNECTION_TIMEOUT_MS = 30_000

SNAPSHOT_MS = 5_000
"""From one snapshot of a quorum's metadata log to the next, where Kafka's own setting makes it an hour; and so long is one kept
that newer ones follow, where it makes it a week. Once a minute a node drops its log before the oldest snapshot that it keeps
(``RaftMetadataLogCleanerManager``), and who asks for what is before that is sent a snapshot.
"""

COORDINATED = 3
"""So many partitions ``__transaction_state`` has, each with a coordinator of its own: Kafka's own setting makes it 50."""

_LIFE: Properties = {
    # Nothing happens by itself but what the protocol does.
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "log.cleaner.enable": "false",
    "log.retention.ms": "-1",
    "log.retention.check.interval.ms": "3600000",
    "group.initial.rebalance.delay.ms": "0",
    # A broker that may not stop yet asks again for 5 s, where Kafka's own settings make it 15 s.
    "controlled.shutdown.retry.backoff.ms": "500",
    "controlled.shutdown.max.retries": "10",
    # A machine with two cores and little memory.
    "num.network.threads": "1",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "log.index.size.max.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": str(COORDINATED),
    # Where Kafka's own setting makes it 10 s.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}

_ORDER = (
    (
        "replica.fetch.wait.max.ms",
        "replica.lag.time.max.ms",
        "a follower whose fetch waits longer would leave the ISR, and Kafka's brokers do not start so",
    ),
    (
        "replica.fetch.wait.max.ms",
        "replica.socket.timeout.ms",
        "a fetch that waits longer would time out, and Kafka's brokers do not start so",
    ),
    (
        "broker.heartbeat.interval.ms",
        "broker.session.timeout.ms",
        "no session would stay alive",
    ),
)
"""What must not be above what, and why."""


@dataclass(frozen=True, slots=True)
class JvmPlace:
    """Where one node's JVM runs, and where others find it.

    Attributes:
        node: 0 for the controller's machine.
        inner_ip: its address for the other nodes.
        advertised: ``ADDRESS:PORT`` that clients on this computer dial; empty if they need not reach it.
        controller_ip: the address of node 0.
        data: its log directory; several with commas between.
        proxied: a proxy listens for the other nodes, and the JVM on the machine's loopback behind it.
        quorum: the controllers' addresses, if there are several; this node may be one of them.
        metadata: where a broker that is a controller, too, keeps the metadata log.
        metadata_apart: every broker keeps it there: one whose metadata log fails gives up.
        dynamic: the quorum's voters can change (KIP-853).
    """

    node: int
    inner_ip: str
    advertised: str
    controller_ip: str
    data: str
    proxied: bool = True
    quorum: Mapping[int, str] = field(default_factory=dict)
    metadata: str = ""
    metadata_apart: bool = False
    dynamic: bool = False

    @property
    def has_both_roles(self) -> bool:
        """Whether this node is a broker and a controller."""
        return self.node in self.quorum and self.node != CONTROLLER

    @property
    def controls(self) -> str:
        """Where the controller of a node with both roles listens for other nodes."""
        return f"127.0.0.1:{BEHIND_QUORUM_PROXY_PORT}" if self.proxied else f"0.0.0.0:{QUORUM_PORT}"

    @property
    def controllers(self) -> dict[int, str]:
        """Where controllers listen for other nodes, as ``HOST:PORT``."""
        ips = self.quorum or {CONTROLLER: self.controller_ip}
        return {node: f"{ip}:{QUORUM_PORT if node != CONTROLLER else INTERNAL_PORT}" for node, ip in ips.items()}

    @property
    def voters(self) -> Properties:
        """How a node finds the controllers: they are fixed, or the metadata log says who votes."""
        if self.dynamic:
            return {"controller.quorum.bootstrap.servers": ",".join(self.controllers.values())}
        return {"controller.quorum.voters": ",".join(f"{node}@{where}" for node, where in self.controllers.items())}

    @property
    def internal(self) -> str:
        """Where the JVM listens for other nodes."""
        return f"127.0.0.1:{BEHIND_PROXY_PORT}" if self.proxied else f"0.0.0.0:{INTERNAL_PORT}"

    @property
    def zookeeper(self) -> str:
        """Where this node's broker finds ZooKeeper; on node 0 without the proxy between them."""
        if self.node == CONTROLLER:
            return f"127.0.0.1:{BEHIND_ZOOKEEPER_PROXY_PORT if self.proxied else ZOOKEEPER_PORT}"
        return f"{self.controller_ip}:{ZOOKEEPER_PORT}"


def server_properties(
    kafka: KafkaVersion, protocol: str, cluster: ClusterSpec, place: JvmPlace, extra: Mapping[str, str] | None = None
) -> Properties:
    """``server.properties`` of a broker, or of KRaft's controller. Beside ZooKeeper, node 0 is a broker.

    Args:
        kafka: the binary.
        protocol: its version; KRaft keeps its own, in the cluster's metadata.
        cluster: shape and settings of the run.
        place: of the node.
        extra: settings that win.

    Raises:
        SystemRefusalError: no broker would start with these settings.
    """
    found = {**_LIFE, **_replication(cluster), "log.dirs": place.data}
    if kafka.uses_zookeeper:
        found |= _broker_listeners(place) | _with_zookeeper(protocol, cluster.settings, place)
    else:
        controls = place.node == CONTROLLER
        found |= _with_kraft(cluster.settings, place) | (
            _controller_listener(kafka, place) if controls else _broker_listeners(place)
        )
        if place.quorum:
            found |= {
                "metadata.log.max.snapshot.interval.ms": str(SNAPSHOT_MS),
                "metadata.max.retention.ms": str(SNAPSHOT_MS),
            }
        if place.metadata_apart:
            found["metadata.log.dir"] = place.metadata
        if place.has_both_roles:
            found |= _with_both_roles(kafka, place, found)
    found |= extra or {}
    # Time without an answer that was due: a fetch may be held back for its whole wait.
    found.setdefault("replica.socket.timeout.ms", str(_longest_fetch(found) + _ms(cluster.settings.request_timeout_us)))
    check_times(found)
    return found


def zookeeper_properties(cluster: ClusterSpec, data_dir: str, *, proxied: bool) -> Properties:
    """``zoo.cfg`` of a single server. It syncs every transaction to its disk, as ZooKeeper does unless told otherwise.

    Args:
        cluster: settings of the run.
        data_dir: where snapshots and transaction logs are.
        proxied: as for :class:`JvmPlace`.
    """
    session = _ms(cluster.settings.session_us)
    return {
        # Sessions end at a whole tick, and would last from two to twenty of them without the bounds below.
        "tickTime": str(max(LEAST_TICK_MS, session // 20)),
        "minSessionTimeout": str(min(session, 2 * LEAST_TICK_MS)),
        "maxSessionTimeout": str(max(session, CONNECTION_TIMEOUT_MS)),
        "dataDir": data_dir,
        "clientPort": str(BEHIND_ZOOKEEPER_PROXY_PORT if proxied else ZOOKEEPER_PORT),
        "clientPortAddress": "127.0.0.1" if proxied else "0.0.0.0",  # noqa: S104 (a container's own network)
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "preAllocSize": "1024",
        "4lw.commands.whitelist": "srvr,ruok,dump",
    }


def topic_configs(cluster: ClusterSpec) -> Properties:
    """Settings of the run's topics."""
    return {
        "min.insync.replicas": str(cluster.settings.min_isr),
        "unclean.leader.election.enable": _truth(cluster.settings.unclean_election),
    }


def of_share_groups(settings: Settings) -> Properties:
    """What brokers are told of share groups (KIP-932): times that fit the run, and as many deliveries as Kafka allows."""
    heartbeat, session = _ms(settings.heartbeat_us), 3 * _ms(settings.session_us)
    return {
        "group.share.record.lock.duration.ms": str(lock_ms(settings)),
        "group.share.min.record.lock.duration.ms": str(LEAST_LOCK_MS),
        "group.share.delivery.count.limit": str(DELIVERIES),
        "group.share.heartbeat.interval.ms": str(heartbeat),
        "group.share.min.heartbeat.interval.ms": str(heartbeat),
        "group.share.session.timeout.ms": str(session),
        "group.share.min.session.timeout.ms": str(session),
        "share.coordinator.state.topic.num.partitions": "1",
    }


def check_times(properties: Properties) -> None:
    """Refuse times that Kafka's brokers refuse when they start, or that cannot work.

    Raises:
        SystemRefusalError: with the settings to change.
    """
    for least, most, why in _ORDER:
        one, other = properties.get(least, ""), properties.get(most, "")
        if one.isdecimal() and other.isdecimal() and int(one) > int(other):
            raise SystemRefusalError(f"{least}={one} must not be above {most}={other}: {why}")


def _replication(cluster: ClusterSpec) -> Properties:
    settings = cluster.settings
    request = _ms(settings.request_timeout_us)
    factor = str(cluster.replication_factor)
    return {
        "default.replication.factor": factor,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": str(settings.min_isr),
        "min.insync.replicas": str(settings.min_isr),
        "unclean.leader.election.enable": _truth(settings.unclean_election),
        "replica.lag.time.max.ms": str(_ms(settings.lag_time_us)),
        "replica.fetch.wait.max.ms": str(_ms(settings.fetch_wait_us)),
        "replica.fetch.backoff.ms": str(min(request, 1000)),
        "replica.fetch.max.bytes": str(_fetch_bytes(settings.max_fetch_batches)),
        "replica.high.watermark.checkpoint.interval.ms": str(_ms(settings.hw_checkpoint_us)),
        "log.flush.start.offset.checkpoint.interval.ms": str(_ms(settings.log_start_checkpoint_us)),
        "controller.socket.timeout.ms": str(max(request, LEAST_CONTROLLER_TIMEOUT_MS)),
    }


def _longest_fetch(properties: Properties) -> int:
    wait = properties["replica.fetch.wait.max.ms"]
    return int(wait) if wait.isdecimal() else 0


def _fetch_bytes(batches: int) -> int:
    """How many bytes stand for so many batches. The first batch comes whatever its size (KIP-74), so one byte means one batch."""
    return 1 if batches == 1 else batches * BATCH_BYTES


def _broker_listeners(place: JvmPlace) -> Properties:
    names = [(INTERNAL, place.internal, f"{place.inner_ip}:{INTERNAL_PORT}")]
    if place.advertised:
        names.append((HOST, f"0.0.0.0:{HOST_PORT}", place.advertised))
    # Nobody dials what this one advertises, but no two brokers may advertise the same.
    names.append((SIDECAR, f"127.0.0.1:{SIDECAR_PORT}", f"{place.inner_ip}:{SIDECAR_PORT}"))
    return {
        "listeners": ",".join(f"{name}://{bind}" for name, bind, _ in names),
        "advertised.listeners": ",".join(f"{name}://{told}" for name, _, told in names),
        "listener.security.protocol.map": _plaintext(INTERNAL, HOST, SIDECAR, CONTROLLERS),
        "inter.broker.listener.name": INTERNAL,
    }


def _controller_listener(kafka: KafkaVersion, place: JvmPlace) -> Properties:
    found = {
        "listeners": f"{CONTROLLERS}://{place.internal}",
        "listener.security.protocol.map": _plaintext(CONTROLLERS),
    }
    if kafka.tells_controllers_address:
        # Where the brokers look for it once they have heard from it; else they would look behind a proxy of their own machines.
        found["advertised.listeners"] = f"{CONTROLLERS}://{place.inner_ip}:{INTERNAL_PORT}"
    return found


def _with_both_roles(kafka: KafkaVersion, place: JvmPlace, broker: Properties) -> Properties:
    """What a broker has besides that is a controller, too. Its metadata log lies on a disk of its own: who loses its vote and its
    log may let a quorum lose what it has committed. To fixed voters that cannot be told; of others (KIP-853) it would be a new one.
    """
    found = {
        "process.roles": "broker,controller",
        "listeners": f"{broker['listeners']},{CONTROLLERS}://{place.controls}",
        "metadata.log.dir": place.metadata,
    }
    if kafka.tells_controllers_address:
        found["advertised.listeners"] = (
            f"{broker['advertised.listeners']},{CONTROLLERS}://{place.inner_ip}:{QUORUM_PORT}"
        )
    return found


def _plaintext(*names: str) -> str:
    return ",".join(f"{name}:PLAINTEXT" for name in names)


def _with_zookeeper(protocol: str, settings: Settings, place: JvmPlace) -> Properties:
    return {
        "broker.id": str(place.node),
        "broker.id.generation.enable": "false",
        "zookeeper.connect": place.zookeeper,
        "zookeeper.session.timeout.ms": str(_ms(settings.session_us)),
        "zookeeper.connection.timeout.ms": str(CONNECTION_TIMEOUT_MS),
        "inter.broker.protocol.version": protocol,
        "log.message.format.version": protocol,
    }


def _with_kraft(settings: Settings, place: JvmPlace) -> Properties:
    return {
        "process.roles": "controller" if place.node == CONTROLLER else "broker",
        "node.id": str(place.node),
        **place.voters,
        "controller.listener.names": CONTROLLERS,
        "broker.session.timeout.ms": str(_ms(settings.session_us)),
        "broker.heartbeat.interval.ms": str(_ms(settings.heartbeat_us)),
    }


def _ms(time_us: int) -> int:
    """At least 1: to Kafka 0 ms is no time-out or no interval at all."""
    return max(1, time_us // MS)


def _truth(value: bool) -> str:
    return "true" if value else "false"
