"""The configuration of a sidecar: one JSON file, written by whoever starts it, and checked before anything is touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.nodes.admin.config_file import Address, ConfigError, Entries, address

BROKER, ZOOKEEPER, KRAFT_CONTROLLER = "broker", "zookeeper", "kraft-controller"
"""Roles: a broker; ZooKeeper with the broker that is Kafka's controller; KRaft's controller."""

ROLES = (BROKER, ZOOKEEPER, KRAFT_CONTROLLER)
SPEAKS = ("kafka", "controller", "zookeeper")
"""What stands behind a port: Kafka's node, whichever its role; the controller of one that is a broker as well; ZooKeeper."""

Properties = dict[str, str]


class ProxyConfig(NamedTuple):
    """A port that is passed on.

    Attributes:
        listen: where others connect to.
        to: where the JVM listens.
        speaks: one of :data:`SPEAKS`.
    """

    listen: Address
    to: Address
    speaks: str


@dataclass(frozen=True, slots=True)
class SidecarConfig:
    """What one sidecar needs to know.

    Attributes:
        node: 1, 2, 3 … is a broker, 0 the controller's machine.
        incarnation: counts this node's starts; a later sidecar has a higher number.
        version: of Kafka, such as ``2.8.2``.
        role: one of :data:`ROLES`.
        properties: the whole ``server.properties``. zookeeper: the whole ``zoo.cfg`` (role ``zookeeper`` only).
        heap: of the JVM, such as ``320m``. jvm_options: further ones.
        libs: the directory with Kafka's jars.
        peers: address → node.
        partitions: partition → its replicas; others are not looked at.
        coordinators: partition → its replicas, of the topics in which coordinators keep what they know.
        kafka: a listener of the JVM that is the sidecar's own.
        data: the log directory. trace: file. process: file for the number and start time of the main JVM.
        quiet: the JVM logs what it would by default, and nothing is traced of the partitions' logs: for measurements.
        raises_features: the controller is asked to raise metadata.version and ELR to what its release has, until it does.
        quorum: the cluster has several controllers. controls: the listener of the one on this node, if it is one of them.
        initial_controllers: the first voters of a quorum whose voters can change, as Kafka's tool is told of them; of other
            nodes than controllers, and where they are fixed, empty.
    """

    node: int
    incarnation: int
    version: str
    role: str
    properties: Properties
    heap: str
    libs: Path
    kafka: Address
    admin: Address
    data: Path
    trace: Path
    process: Path
    zookeeper: Properties = field(default_factory=dict)
    jvm_options: tuple[str, ...] = ()
    proxies: tuple[ProxyConfig, ...] = ()
    peers: dict[str, int] = field(default_factory=dict)
    partitions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    coordinators: dict[str, tuple[int, ...]] = field(default_factory=dict)
    quiet: bool = False
    raises_features: bool = False
    quorum: bool = False
    controls: Address | None = None
    initial_controllers: str = ""

    @property
    def is_controller(self) -> bool:
        """Whether this is the controller's machine, and no broker's."""
        return self.role != BROKER

    @property
    def votes(self) -> bool:
        """Whether this node is one of several controllers."""
        return self.controls is not None

    @property
    def is_kraft(self) -> bool:
        """Whether Kafka runs without ZooKeeper."""
        return "process.roles" in self.properties

    @staticmethod
    def from_json(data: object) -> SidecarConfig:
        """Check plain values. ``given``, if it is there, is whatever the starter wants to find again.

        Raises:
            ConfigError: an entry is missing, unknown, or impossible.
        """
        take = Entries(data)
        take.mapping("given", optional=True)
        role = take.text("role")
        if role not in ROLES:
            raise ConfigError(f"role must be one of {', '.join(ROLES)}, not {role!r}")
        config = SidecarConfig(
            node=take.number("node", 0),
            incarnation=take.number("incarnation", 1),
            version=take.text("version"),
            role=role,
            properties=_properties(take.mapping("properties"), "properties"),
            zookeeper=_properties(take.mapping("zookeeper", optional=role != ZOOKEEPER), "zookeeper"),
            heap=take.text("heap"),
            jvm_options=tuple(take.texts("jvm_options")),
            libs=take.path("libs"),
            proxies=tuple(_proxy(entry) for entry in take.listed("proxies")),
            peers=_peers(take.mapping("peers", optional=True)),
            partitions=_partitions(take.mapping("partitions", optional=True)),
            coordinators=_partitions(take.mapping("coordinators", optional=True)),
            kafka=address(take.text("kafka"), "kafka"),
            admin=address(take.text("admin"), "admin"),
            data=take.path("data"),
            trace=take.path("trace"),
            process=take.path("process"),
            quiet=take.flag("quiet"),
            raises_features=take.flag("raises_features"),
            quorum=take.flag("quorum"),
            controls=address(controls, "controls") if (controls := take.text("controls", optional=True)) else None,
            initial_controllers=take.text("initial_controllers", optional=True) or "",
        )
        take.nothing_left()
        if config.is_controller != (config.node == 0):
            raise ConfigError(
                f"node 0 is the controller's machine, so node {config.node} cannot have the role {role!r}"
            )
        if role == ZOOKEEPER and not {"dataDir", "clientPort"} <= set(config.zookeeper):
            raise ConfigError("zookeeper must have the entries dataDir and clientPort")
        return config


def _properties(entries: dict[str, Any], what: str) -> Properties:
    found = {}
    for key, value in entries.items():
        if isinstance(value, bool):
            found[key] = str(value).lower()
        elif isinstance(value, str | int):
            found[key] = str(value)
        else:
            raise ConfigError(f"{what}.{key} must be a text or a number, not {value!r}")
    return found


def _proxy(entry: object) -> ProxyConfig:
    if not isinstance(entry, dict) or set(entry) != {"listen", "to", "speaks"}:
        raise ConfigError("a proxy must have exactly the entries listen, to and speaks")
    if entry["speaks"] not in SPEAKS:
        raise ConfigError(f"a proxy speaks one of {', '.join(SPEAKS)}, not {entry['speaks']!r}")
    listen, to = address(entry["listen"], "proxies.listen"), address(entry["to"], "proxies.to")
    return ProxyConfig(listen, to, entry["speaks"])


def _peers(entries: dict[str, Any]) -> dict[str, int]:
    for host, node in entries.items():
        if type(node) is not int or node < 0:
            raise ConfigError(f"peers.{host} must be a node's number, not {node!r}")
    return dict(entries)


def _partitions(entries: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    found = {}
    for name, replicas in entries.items():
        topic, _, number = name.rpartition("-")
        if not topic or not number.isdecimal():
            raise ConfigError(f"a partition has a name such as t-0, not {name!r}")
        if not isinstance(replicas, list) or not all(type(node) is int and node > 0 for node in replicas):
            raise ConfigError(f"partitions.{name} must be a list of brokers, not {replicas!r}")
        found[name] = tuple(replicas)
    return found
