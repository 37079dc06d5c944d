"""The configuration of a node process: one JSON file, written by whoever starts it, and checked before anything is touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.nodes.admin.config_file import Address, ConfigError, Entries, address, load
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.core.settings import ClusterSpecError
from tidemark.nodes.core.variant import Variant, VariantError
from tidemark.nodes.families import AnyVariant, Family, family_of, parse_variant

INTERNAL, HOST = "internal", "host"
"""Listeners: nodes and clients inside the cluster's network use the first, clients on the host the second."""


class ListenerConfig(NamedTuple):
    """Where a listener is bound, and what clients are told to connect to."""

    bind: Address
    advertise: Address


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """What one node process needs to know.

    Attributes:
        node: 1, 2, 3 … is a broker, 0 the controller, or the metadata store.
        incarnation: counts this node's starts; a later process has a higher number.
        first_leader_epoch: the epoch of each partition's first leader.
        listeners: by name; ``internal``, and for brokers ``host``.
        peers: internal address of every node, the controller included if there is one.
        hosts: host-listener address of every broker, for Metadata on that listener.
        data: what was fsynced. volatile: what the process reads and writes. Both None on a controller that was given none.
        given: whatever the starter wants to find again; the process does not look at it.
    """

    node: int
    incarnation: int
    variant: AnyVariant
    cluster: ClusterSpec
    first_leader_epoch: int
    listeners: dict[str, ListenerConfig]
    peers: dict[int, Address]
    hosts: dict[int, Address]
    admin: Address
    data: Path | None
    volatile: Path | None
    trace: Path
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> Family:
        """The family of protocols that the variant is of."""
        return family_of(self.variant)

    @property
    def kafka(self) -> Variant:
        """The variant, where it is one of Kafka's protocol.

        Raises:
            TypeError: it is of another family.
        """
        if not isinstance(self.variant, Variant):
            raise TypeError(f"{self.variant.name} is no variant of Kafka's protocol")
        return self.variant

    @property
    def is_controller(self) -> bool:
        """Whether this node is the controller."""
        return self.node == CONTROLLER

    @staticmethod
    def load(path: Path) -> NodeConfig:
        """Read and check a file.

        Raises:
            ConfigError: it cannot be read, or says something impossible.
        """
        return load(path, NodeConfig.from_json)

    @staticmethod
    def from_json(data: object) -> NodeConfig:
        """Check plain values.

        Raises:
            ConfigError: an entry is missing, unknown, or impossible.
        """
        entries = Entries(data)
        try:
            variant = parse_variant(entries.text("variant"))
            cluster = ClusterSpec.from_json(entries.mapping("cluster"))
        except (VariantError, ClusterSpecError) as e:
            raise ConfigError(str(e)) from e
        node = entries.number("node", 0)
        if node not in (CONTROLLER, *cluster.broker_ids()):
            raise ConfigError(f"node must be 0 (the controller) or a broker from 1 to {cluster.brokers}, not {node}")
        if node == CONTROLLER and not family_of(variant).has_node_0:
            raise ConfigError(f"{variant.name} has no controller: node must be a broker from 1 to {cluster.brokers}")
        broker = node != CONTROLLER
        config = NodeConfig(
            node=node,
            incarnation=entries.number("incarnation", 1),
            variant=variant,
            cluster=cluster,
            first_leader_epoch=entries.number("first_leader_epoch", 0, default=0),
            listeners=_listeners(entries.mapping("listeners")),
            peers=_addresses(entries.mapping("peers"), "peers"),
            hosts=_addresses(entries.mapping("hosts", optional=True), "hosts"),
            admin=address(entries.text("admin"), "admin", any_port=True),
            data=entries.path("data") if broker else entries.optional_path("data"),
            volatile=entries.path("volatile") if broker else entries.optional_path("volatile"),
            trace=entries.path("trace"),
            given=entries.mapping("given", optional=True),
        )
        entries.nothing_left()
        config._check_nodes()
        return config

    def _check_nodes(self) -> None:
        brokers = self.cluster.broker_ids()
        for name in (INTERNAL,) if self.is_controller else (INTERNAL, HOST):
            if name not in self.listeners:
                raise ConfigError(f"listeners must have an entry {name!r}")
        for what, addresses, wanted in (
            ("peers", self.peers, (CONTROLLER, *brokers) if self.family.has_node_0 else brokers),
            ("hosts", self.hosts, () if self.is_controller else brokers),
        ):
            missing = [str(n) for n in wanted if n not in addresses]
            if missing:
                raise ConfigError(f"{what} must have an address for node {', '.join(missing)}")


def _addresses(entries: dict[str, Any], what: str) -> dict[int, Address]:
    found = {}
    for name, value in entries.items():
        if not name.isdecimal():
            raise ConfigError(f"{what} must be keyed by node numbers, not {name!r}")
        found[int(name)] = address(value, f"{what}.{name}", any_port=True)
    return found


def _listeners(entries: dict[str, Any]) -> dict[str, ListenerConfig]:
    found = {}
    for name, value in entries.items():
        if name not in (INTERNAL, HOST):
            raise ConfigError(f"a listener is called {INTERNAL!r} or {HOST!r}, not {name!r}")
        if not isinstance(value, dict) or set(value) != {"bind", "advertise"}:
            raise ConfigError(f"listeners.{name} must have exactly the entries bind and advertise")
        found[name] = ListenerConfig(
            address(value["bind"], f"listeners.{name}.bind", any_port=True),
            address(value["advertise"], f"listeners.{name}.advertise", any_port=True),
        )
    return found
