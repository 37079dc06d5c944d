"""The configuration of a node process: one JSON file, written by whoever starts it, and checked before anything is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nodes.core.cluster import ClusterError, ClusterSpec
from nodes.core.messages import CONTROLLER
from nodes.core.variant import Variant, VariantError, parse_variant

C = TypeVar("C")

INTERNAL, HOST = "internal", "host"
"""Listeners: nodes and clients inside the cluster's network use the first, clients on the host the second."""


class ConfigError(ValueError):
    """The configuration cannot be used; the message says what to change, in one sentence."""


class Address(NamedTuple):
    """Where to listen or to connect."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class ListenerConfig(NamedTuple):
    """Where a listener is bound, and what clients are told to connect to."""

    bind: Address
    advertise: Address


def load(path: Path, check: Callable[[object], C]) -> C:
    """Read and check a configuration's file.

    Args:
        path: of the JSON file.
        check: makes the configuration of plain values.

    Raises:
        ConfigError: it cannot be read, or says something impossible; it names the file.
    """
    try:
        data = json.loads(path.read_text())
    except OSError as e:
        raise ConfigError(f"cannot read {path}: {e.strerror}") from e
    except ValueError as e:
        raise ConfigError(f"{path} is not JSON: {e}") from e
    try:
        return check(data)
    except ConfigError as e:
        raise ConfigError(f"{path}: {e}") from e


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """What one node process needs to know.

    Attributes:
        node: 1, 2, 3 … is a broker, 0 the controller.
        incarnation: counts this node's starts; a later process has a higher number.
        first_leader_epoch: the epoch of each partition's first leader.
        listeners: by name; ``internal``, and for brokers ``host``.
        peers: internal address of every node, the controller included.
        hosts: host-listener address of every broker, for Metadata on that listener.
        data: what was fsynced. volatile: what the process reads and writes. Both None on a controller that was given none.
        given: whatever the starter wants to find again; the process does not look at it.
    """

    node: int
    incarnation: int
    variant: Variant
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
        entries = _Entries(data)
        try:
            variant = parse_variant(entries.text("variant"))
            cluster = ClusterSpec.from_json(entries.mapping("cluster"))
        except (VariantError, ClusterError) as e:
            raise ConfigError(str(e)) from e
        node = entries.number("node", 0)
        if node not in (CONTROLLER, *cluster.broker_ids()):
            raise ConfigError(f"node must be 0 (the controller) or a broker from 1 to {cluster.brokers}, not {node}")
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
            admin=_address(entries.text("admin"), "admin"),
            data=entries.path("data", optional=not broker),
            volatile=entries.path("volatile", optional=not broker),
            trace=entries.needed_path("trace"),
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
            ("peers", self.peers, (CONTROLLER, *brokers)),
            ("hosts", self.hosts, () if self.is_controller else brokers),
        ):
            missing = [str(n) for n in wanted if n not in addresses]
            if missing:
                raise ConfigError(f"{what} must have an address for node {', '.join(missing)}")


_MAX_NUMBER = 2**31 - 1


class _Entries:
    """The entries of the file's object, each taken once."""

    def __init__(self, data: object) -> None:
        if not isinstance(data, dict):
            raise ConfigError("the configuration must be a JSON object")
        self._left = dict(data)

    def _take(self, name: str) -> object:
        if name not in self._left:
            raise ConfigError(f"the entry {name!r} is missing")
        return self._left.pop(name)

    def number(self, name: str, least: int, default: int | None = None) -> int:
        if default is not None and name not in self._left:
            return default
        value = self._take(name)
        if type(value) is not int or not least <= value <= _MAX_NUMBER:
            raise ConfigError(f"{name} must be a whole number from {least} to {_MAX_NUMBER}, not {value!r}")
        return value

    def text(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{name} must be a text that is not empty, not {value!r}")
        return value

    def mapping(self, name: str, *, optional: bool = False) -> dict[str, Any]:
        if optional and name not in self._left:
            return {}
        value = self._take(name)
        if not isinstance(value, dict):
            raise ConfigError(f"{name} must be a JSON object, not {value!r}")
        return value

    def path(self, name: str, *, optional: bool) -> Path | None:
        if optional and self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.needed_path(name)

    def needed_path(self, name: str) -> Path:
        path = Path(self.text(name))
        if not path.is_absolute():
            raise ConfigError(f"{name} must be an absolute path, not {str(path)!r}")
        return path

    def nothing_left(self) -> None:
        if self._left:
            raise ConfigError(f"unknown entry {next(iter(self._left))!r}")


def _address(value: object, what: str) -> Address:
    if isinstance(value, str):
        host, _, port = value.rpartition(":")
        if host and port.isdecimal() and int(port) <= 65_535:
            return Address(host, int(port))
    raise ConfigError(f"{what} must be an address such as 127.0.0.1:9092, not {value!r}")


def _addresses(entries: dict[str, Any], what: str) -> dict[int, Address]:
    found = {}
    for name, value in entries.items():
        if not name.isdecimal():
            raise ConfigError(f"{what} must be keyed by node numbers, not {name!r}")
        found[int(name)] = _address(value, f"{what}.{name}")
    return found


def _listeners(entries: dict[str, Any]) -> dict[str, ListenerConfig]:
    found = {}
    for name, value in entries.items():
        if name not in (INTERNAL, HOST):
            raise ConfigError(f"a listener is called {INTERNAL!r} or {HOST!r}, not {name!r}")
        if not isinstance(value, dict) or set(value) != {"bind", "advertise"}:
            raise ConfigError(f"listeners.{name} must have exactly the entries bind and advertise")
        found[name] = ListenerConfig(
            _address(value["bind"], f"listeners.{name}.bind"),
            _address(value["advertise"], f"listeners.{name}.advertise"),
        )
    return found
