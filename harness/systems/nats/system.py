"""NATS JetStream: a stream with a replica on each node is a log, or, with a consumer that all clients share, a queue."""

from __future__ import annotations

import re
import shlex
import time
from typing import TYPE_CHECKING, Any, ClassVar

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.nats.binary import server_of
from tidemark.harness.systems.nats.client import ACK_WAIT_S, CONSUMER, NatsClient, NatsQueue
from tidemark.harness.systems.nats.connection import NatsConnection, NatsError
from tidemark.harness.systems.nats.message_blocks import entries
from tidemark.harness.systems.nats.scripts import scripts
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
from tidemark.nemesis.object_workload import QUEUE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.harness.clients.client import Client

BINARY, CONFIG = "/opt/nats/nats-server", "/etc/nats.conf"
ROUTES, MONITOR = 6222, 8222
ACCOUNT = "$G"
"""Of clients that say no other."""
SYNC_ALWAYS = "sync-always"
CAN_PREFER = (2, 11)
"""From this version on who steps down can be told who is to lead; a server before it refuses to be told."""
SETUP_S = 60.0
LEADER_S = 10.0
LOOK_S = 0.1
SHARED = {"durable_name": CONSUMER, "ack_policy": "explicit", "ack_wait": int(ACK_WAIT_S * 1e9)}
BY_REPLICAS = (
    "By default JetStream relies on stream replication in the cluster to guarantee data is available after an OS crash. "
    "(docs.nats.io, configuration of JetStream, sync_interval)"
)
BY_SYNCS = (
    "You can force an fsync after each message with always (docs.nats.io, configuration of JetStream, sync_interval)"
)


class NatsSystem(RealSystem):
    """``--system nats:VERSION[@sync-always]``.

    Replicas stand for syncs by its documentation, so it promises what `durable` says: the crash of fewer systems than a majority
    loses nothing; that of more may. With every message synced, none may (`majority`).

    Args:
        version: such as ``2.15.1``. always: whether every message is synced before it counts.
    """

    time_scale = 2.0
    memory = 768 << 20
    workloads: ClassVar[Sequence[str]] = ("log", QUEUE)
    data_files: ClassVar[Sequence[str]] = ("jetstream/**/*.blk", "jetstream/**/snapshots/*")

    def __init__(self, version: str, *, always: bool = False) -> None:
        self.version, self.always = version, always
        self.name = f"nats:{version}" + (f"@{SYNC_ALWAYS}" if always else "")
        self.promise, self.promised = ("majority", BY_SYNCS) if always else ("durable", BY_REPLICAS)

    @classmethod
    def parse(cls, text: str) -> NatsSystem:
        """The system of a text such as ``nats:2.15.1@sync-always``.

        Raises:
            SystemRefusalError: there is no such version or option.
        """
        version, at, option = text.partition(":")[2].partition("@")
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            raise SystemRefusalError(f"{version!r} is no version of NATS; give its three numbers, such as nats:2.15.1")
        if at and option != SYNC_ALWAYS:
            raise SystemRefusalError(
                f"NATS has no option {option!r} here; there is {SYNC_ALWAYS}: nats:{version}@{SYNC_ALWAYS}"
            )
        return cls(version, always=bool(at))

    def install(self) -> Install:
        return Install(files={BINARY: server_of(self.version)})

    def process(self, node: int, nodes: Mapping[int, Node], logs: Sequence[str]) -> Process:
        routes = ", ".join(f"nats://{other.address}:{ROUTES}" for other in nodes.values())
        sync = "sync_interval: always" if self.always else ""
        config = f"""server_name: n{node}
listen: 0.0.0.0:{CLIENT_PORT}
http: 127.0.0.1:{MONITOR}
jetstream {{ store_dir: "{DATA}", max_mem: 64MB, max_file: 1GB
  {sync} }}
cluster {{ name: C, listen: 0.0.0.0:{ROUTES}, no_advertise: true, routes: [{routes}] }}
"""
        return Process((BINARY, "-c", CONFIG), files={CONFIG: config}, ready="Server is ready")

    def setup(self, nodes: Mapping[int, Node], logs: Mapping[str, Sequence[int]]) -> None:
        """A stream for each log. Its first node leads, if it can be had to. What is acknowledged leaves a queue."""
        deadline = time.monotonic() + SETUP_S
        self._queue = next(iter(logs))
        kept = {"retention": "workqueue"} if self.workload == QUEUE else {}
        for log, replicas in logs.items():
            config = {"name": log, "subjects": [log], "num_replicas": len(replicas), "storage": "file", **kept}
            while True:
                try:
                    self._make(nodes, log, config)
                    break
                except (NatsError, OSError, KeyError) as error:
                    if time.monotonic() > deadline:
                        raise NodeError(f"{self.name} makes no stream {log} within {SETUP_S:g} s: {error}") from error
                    time.sleep(LOOK_S)

    def _make(self, nodes: Mapping[int, Node], log: str, config: dict[str, Any]) -> None:
        connection = NatsConnection(nodes[1].for_clients)
        try:
            connection.ask(f"STREAM.CREATE.{log}", config)
            self._have_first_lead(connection, "STREAM", log)
            if self.workload == QUEUE:
                connection.ask(f"CONSUMER.DURABLE.CREATE.{log}.{CONSUMER}", {"stream_name": log, "config": SHARED})
                self._have_first_lead(connection, "CONSUMER", f"{log}.{CONSUMER}")
        finally:
            connection.close()

    def _have_first_lead(self, connection: NatsConnection, kind: str, name: str) -> None:
        """Wait until a stream or a consumer is at rest, and node 1 leads, or will not."""
        can_prefer = tuple(map(int, self.version.split("."))) >= CAN_PREFER
        wish = {"placement": {"preferred": "n1"}} if can_prefer else None
        deadline = time.monotonic() + LEADER_S
        while time.monotonic() < deadline:
            cluster = connection.ask(f"{kind}.INFO.{name}")["cluster"]
            current = all(replica.get("current") for replica in cluster.get("replicas", ()))
            if cluster.get("leader") == "n1" and current:
                return
            if cluster.get("leader") and current:
                connection.ask(f"{kind}.LEADER.STEPDOWN.{name}", wish)
            time.sleep(LOOK_S)

    def client(self, workload: str) -> Client:
        return NatsQueue(self._queue) if workload == QUEUE else NatsClient()

    def view(self, node: Node, log: str) -> View:
        """The server's monitor: who leads the stream, the term of its group, and the last sequence that this server has."""
        accounts = node.get_json(MONITOR, "/jsz?accounts=1&streams=1&raft=1")["account_details"]
        stream = next(one for account in accounts for one in account["stream_detail"] if one["name"] == log)
        group = stream["cluster"]["raft_group"]
        raft = node.get_json(MONITOR, f"/raftz?acc={ACCOUNT}&group={group}")[ACCOUNT][group]
        return View(raft["state"] == "LEADER", raft["term"], stream["state"]["last_seq"])

    def log_of(self, node: Node, log: str) -> list[LogEntry] | None:
        """Its messages, from its files; of a queue these have what was taken out, too, until the server makes room."""
        if self.workload == QUEUE:
            return None
        folder = shlex.quote(f"{DATA}/jetstream/{ACCOUNT}/streams/{log}/msgs")
        blocks = node.run(f"ls {folder}/*.blk 2>/dev/null || true").split()
        found = {entry.offset: entry for block in blocks for entry in entries(node.machine.shell.get(block))}
        return [found[offset] for offset in sorted(found)]

    def scripts(self) -> Mapping[str, Script]:
        return scripts(always=self.always)

    def describe(self) -> Mapping[str, Any]:
        return {"sync_interval": "always" if self.always else "2m, as it comes"}
