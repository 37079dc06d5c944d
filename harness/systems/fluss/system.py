"""Apache Fluss: a log table with one bucket, and a replica on each tablet server, is a log."""

from __future__ import annotations

import re
import shlex
import time
from typing import TYPE_CHECKING, Any, ClassVar

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.fluss.batches import batches_in
from tidemark.harness.systems.fluss.client import FlussClient
from tidemark.harness.systems.fluss.connection import PATIENCE_S, FlussConnection, FlussError, connected
from tidemark.harness.systems.fluss.requests import create_table, drop_table, end_of, servers_of, table_of
from tidemark.harness.systems.fluss.scripts import scripts
from tidemark.harness.systems.fluss.servers import (
    COORDINATOR,
    MIN_ISR,
    SESSION_S,
    TABLET_SERVER,
    ZOOKEEPER,
    ZOOKEEPER_PORT,
    coordinator_config,
    jars,
    java,
    tablet_server_config,
    zookeeper_config,
)
from tidemark.harness.systems.outside.real_system import (
    CLIENT_PORT,
    DATA,
    Install,
    LogEntry,
    Node,
    Process,
    RealSystem,
    Script,
    View,
)
from tidemark.harness.systems.system import SystemRefusalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.harness.clients.client import Client

CONFIG = "/etc/fluss"
BESIDE = "/var/lib/tidemark/beside"
"""Folder of ZooKeeper and the coordinator, on their machine."""
SETUP_S, START_S = 90.0, 60.0
LOOK_S = 0.2
AS_ANY_SERVER = 0
"""Who asks as a tablet server is told the log's end; which one it is nobody looks at."""
BY_REPLICAS = (
    "acks=-1 (all): This will mean the leader will wait for the full ser [sic] of in-sync replicas to acknowledge the record. This "
    "guarantees that the record will not be lost as long as at least one in-sync replica remains alive. (Fluss 0.9.1, "
    "client.writer.acks)"
)


class FlussSystem(RealSystem):
    """``--system fluss:VERSION``.

    Its documentation lets replicas stand for syncs, so it promises what `durable` says: the crash of fewer systems than a majority
    loses nothing.

    Args:
        version: such as ``0.9.1``.
    """

    time_scale = 8.0
    memory = 1 << 30
    promise, promised = "durable", BY_REPLICAS
    model, session_s = "fluss-0.9", SESSION_S
    workloads: ClassVar[Sequence[str]] = ("log",)
    data_files: ClassVar[Sequence[str]] = ("fluss/**/*.log",)

    def __init__(self, version: str) -> None:
        self.version = version
        self._beside: Node | None = None
        self.name = f"fluss:{version}"

    @classmethod
    def parse(cls, text: str) -> FlussSystem:
        """The system of a text such as ``fluss:0.9.1``.

        Raises:
            SystemRefusalError: there is no such version.
        """
        version = text.partition(":")[2]
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            raise SystemRefusalError(f"{version!r} is no version of Fluss; give its three numbers, such as fluss:0.9.1")
        return cls(version)

    def install(self) -> Install:
        return Install(packages=("openjdk-17-jre-headless",), jars=jars(self.version))

    def beside(self, machine: Node, nodes: Mapping[int, Node]) -> None:
        """ZooKeeper and the coordinator, on a machine of their own."""
        self._beside = machine
        machine.run(
            f"for file in {BESIDE}/*.pid; do test -f $file && kill -9 $(cat $file) 2>/dev/null; done; "
            f"rm -rf {BESIDE} && mkdir -p {BESIDE}"
        )
        self._write(machine, f"{BESIDE}/zoo.cfg", zookeeper_config(f"{BESIDE}/zookeeper"))
        config = coordinator_config(machine.address, machine.for_clients, f"{BESIDE}/remote")
        self._write(machine, f"{BESIDE}/server.yaml", config)
        self._begin(machine, "zookeeper", java(ZOOKEEPER, 128, f"{BESIDE}/zoo.cfg"), ZOOKEEPER_PORT)
        self._begin(machine, "coordinator", java(COORDINATOR, 256, "--configDir", BESIDE), CLIENT_PORT)

    def _coordinator(self) -> Node:
        if self._beside is None:
            raise NodeError(f"nothing was started beside the nodes of {self.name}")
        return self._beside

    @staticmethod
    def _write(machine: Node, path: str, text: str) -> None:
        machine.run(f"printf %s {shlex.quote(text)} >{path}")

    @staticmethod
    def _begin(machine: Node, name: str, command: Sequence[str], port: int) -> None:
        """Start it, and wait until it listens."""
        here = f"{BESIDE}/{name}"
        machine.run(f"setsid nohup {shlex.join(command)} >{here}.log 2>&1 </dev/null & echo $! >{here}.pid")
        deadline = time.monotonic() + START_S
        listens = f"grep -qi ':{port:04X} .* 0A ' /proc/net/tcp /proc/net/tcp6"
        while machine.run(f"{listens} && echo yes || true").strip() != "yes":
            if time.monotonic() > deadline:
                raise NodeError(
                    f"the {name} did not start within {START_S:g} s: {machine.run(f'tail -n 1 {here}.log')}"
                )
            time.sleep(LOOK_S)

    def process(self, node: int, nodes: Mapping[int, Node], logs: Sequence[str]) -> Process:
        me = nodes[node]
        config = tablet_server_config(node, self._coordinator().address, me.address, me.for_clients)
        command = java(TABLET_SERVER, 384, "--configDir", CONFIG)
        return Process(command, files={f"{CONFIG}/server.yaml": config})

    def setup(self, nodes: Mapping[int, Node], logs: Mapping[str, Sequence[int]]) -> None:
        """A table for each log. Which servers get it, and in which order, is drawn by the coordinator: it is dropped and made again
        until it is as wanted, since the first leads, and the first of those that are left is elected.
        """
        deadline = time.monotonic() + SETUP_S
        for log, replicas in logs.items():
            while True:
                try:
                    if self._make(nodes, log, tuple(replicas)):
                        break
                except (FlussError, OSError, LookupError) as error:
                    if time.monotonic() > deadline:
                        raise NodeError(f"{self.name} makes no table {log} within {SETUP_S:g} s: {error}") from error
                    time.sleep(LOOK_S)
                if time.monotonic() > deadline:
                    raise NodeError(f"{self.name} puts no table {log} on {replicas} within {SETUP_S:g} s")

    def _make(self, nodes: Mapping[int, Node], log: str, replicas: tuple[int, ...]) -> bool:
        shell = self._coordinator().machine.shell
        coordinator = FlussConnection(shell.channel("127.0.0.1", CLIENT_PORT, timeout_s=PATIENCE_S))
        try:
            if len(servers_of(coordinator)) < len(nodes):
                raise LookupError("not all tablet servers are there")
            drop_table(coordinator, log)
            create_table(coordinator, log, len(replicas))
            table = table_of(coordinator, log)
        finally:
            coordinator.close()
        if table.replicas != replicas:
            return False
        deadline = time.monotonic() + START_S
        for node in nodes.values():
            while not self._knows(node, log, table.number, replicas[0]):
                if time.monotonic() > deadline:
                    raise LookupError(f"node {node.number} does not hear of it")
                time.sleep(LOOK_S)
        return True

    @staticmethod
    def _knows(node: Node, log: str, number: int, leader: int) -> bool:
        try:
            connection = connected(node.for_clients)
        except OSError:
            return False
        try:
            table = table_of(connection, log)
            return (table.number, table.leader) == (number, leader) and end_of(connection, number) == 0
        except (FlussError, LookupError):
            return False
        finally:
            connection.close()

    def client(self, workload: str) -> Client:
        return FlussClient()

    def view(self, node: Node, log: str) -> View:
        """Who leads in which epoch, as this server was told; its own log's end and high watermark."""
        connection = connected(node.for_clients)
        try:
            table = table_of(connection, log)
            end = end_of(connection, table.number, as_server=AS_ANY_SERVER)
            leads = table.leader == node.number
            return View(leads, table.epoch, end, end_of(connection, table.number) if leads else None, table.leader)
        finally:
            connection.close()

    def log_of(self, node: Node, log: str) -> list[LogEntry]:
        """Its segments; batches carry no epoch."""
        found = node.run(f"ls -d {DATA}/fluss/{shlex.quote(log)}-*/log-0 2>/dev/null || true").split()
        if not found:
            return []
        newest = max(found, key=lambda folder: int(folder.split("/")[-2].rpartition("-")[2]))
        segments = node.run(f"ls {shlex.quote(newest)}/*.log").split()
        return [
            LogEntry(offset, None, value)
            for segment in sorted(segments)
            for batch in batches_in(node.machine.shell.get(segment))
            for offset, value in enumerate(batch.values, batch.base)
        ]

    def scripts(self) -> Mapping[str, Script]:
        return scripts()

    def describe(self) -> Mapping[str, Any]:
        return {"session_timeout": f"{SESSION_S}s", "min_isr": MIN_ISR, "idempotence": False}
