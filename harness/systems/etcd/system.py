"""etcd: a key-value store on one Raft group, each of whose members has everything."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from contextlib import closing
from http.client import HTTPException
from typing import TYPE_CHECKING, ClassVar

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.systems.etcd.binary import server_of
from tidemark.harness.systems.etcd.client import EtcdClient, EtcdCounter
from tidemark.harness.systems.etcd.gateway import EtcdError, Gateway, encoded
from tidemark.harness.systems.etcd.members import PEERS, Members, ask_others, peer_url, take_in, take_out
from tidemark.harness.systems.etcd.revisions import entries
from tidemark.harness.systems.etcd.scripts import scripts
from tidemark.harness.systems.outside.real_system import (
    ALONE,
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
from tidemark.nemesis.object_workload import COUNTER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.harness.clients.client import Client
    from tidemark.nemesis import Plan

BINARY = "/opt/etcd/etcd"
SETUP_S = 60.0
LOOK_S = 0.1
PROMISED = (
    "Any completed operations are durable. KV Service operations are atomic and occur in a total order, consistent with real-time "
    "order of those operations. (etcd.io/docs, etcd API guarantees)"
)


class EtcdSystem(RealSystem):
    """``--system etcd:VERSION``.

    Args:
        version: such as ``3.5.1``.
    """

    time_scale = 2.0
    memory = 768 << 20
    disk = "512m"
    promise, promised = "majority", PROMISED
    workloads: ClassVar[Sequence[str]] = ("cas-register", "register", "list-append", "set", "counter", "unique-ids")
    data_files: ClassVar[Sequence[str]] = ("etcd/member/wal/*.wal", "etcd/member/snap/*")
    shows_files = False
    suffers_not: ClassVar[Mapping[str, str]] = {
        "disk": "a member that has lost its disk must be removed and added again by an operator",
        "from-controller": ALONE,
    }

    def __init__(self, version: str) -> None:
        self.version = version
        self.name = f"etcd:{version}"
        self._came_later: dict[int, Members] = {}
        """Who was taken in again in this run, and with whom."""
        self._known: defaultdict[int, set[str]] = defaultdict(set)
        """By which numbers a node was a member before it was to leave."""

    @classmethod
    def parse(cls, text: str) -> EtcdSystem:
        """The system of a text such as ``etcd:3.5.1``.

        Raises:
            SystemRefusalError: there is no such version.
        """
        version = text.partition(":")[2]
        if not re.fullmatch(r"3\.\d+\.\d+", version):
            raise SystemRefusalError(f"{version!r} is no version of etcd 3; give its three numbers, such as etcd:3.5.1")
        return cls(version)

    def install(self) -> Install:
        return Install(files={BINARY: server_of(self.version)})

    def process(self, node: int, nodes: Mapping[int, Node], logs: Sequence[str]) -> Process:
        peers = {number: peer_url(other) for number, other in nodes.items()}
        others = self._came_later.get(node)
        flags = {
            "name": f"n{node}",
            "data-dir": f"{DATA}/etcd",
            "listen-client-urls": f"http://0.0.0.0:{CLIENT_PORT}",
            "advertise-client-urls": f"http://{nodes[node].address}:{CLIENT_PORT}",
            "listen-peer-urls": f"http://0.0.0.0:{PEERS}",
            "initial-advertise-peer-urls": peers[node],
            "initial-cluster": ",".join(
                f"n{number}={url}" for number, url in peers.items() if not others or url in others
            ),
            "initial-cluster-state": "existing" if others else "new",
        }
        return Process((BINARY, *(f"--{name}={value}" for name, value in flags.items())), ready=CLIENT_PORT)

    def beside(self, machine: Node, nodes: Mapping[int, Node]) -> None:
        """Nothing is beside it; a new cluster begins."""
        self._came_later.clear()
        self._known.clear()

    def setup(self, nodes: Mapping[int, Node], logs: Mapping[str, Sequence[int]]) -> None:
        """Wait until every member answers what a majority must agree to."""
        deadline = time.monotonic() + SETUP_S
        for node in nodes.values():
            while True:
                try:
                    with closing(Gateway(node.for_clients)) as gateway:
                        gateway.ask("kv/range", {"key": encoded("setup")})
                    break
                except (EtcdError, OSError, HTTPException) as error:
                    if time.monotonic() > deadline:
                        raise NodeError(f"{self.name} does not answer within {SETUP_S:g} s: {error}") from error
                    time.sleep(LOOK_S)

    def client(self, workload: str) -> Client:
        return EtcdCounter() if workload == COUNTER else EtcdClient()

    def view(self, node: Node, log: str) -> View:
        """By the member's status: who leads, in which term, and the revision up to which it has applied what was written."""
        status = node.post_json(CLIENT_PORT, "/v3/maintenance/status", {})
        leads = status.get("leader") == status["header"]["member_id"]
        return View(leads, int(status["raftTerm"]), int(status["header"].get("revision", 0)))

    def log_of(self, node: Node, log: str) -> list[LogEntry]:
        """What a member has applied, revision by revision, as it tells by itself."""
        with closing(Gateway(node.for_clients)) as gateway:
            end = int(gateway.ask("maintenance/status", {})["header"]["revision"])
            return entries(gateway.events(), end)

    def leave(self, node: int, nodes: Mapping[int, Node]) -> None:
        ask_others(node, nodes, lambda gateway: take_out(gateway, peer_url(nodes[node]), self._known[node]))

    def join(self, node: int, nodes: Mapping[int, Node]) -> bool:
        members = ask_others(node, nodes, lambda gateway: take_in(gateway, peer_url(nodes[node]), self._known[node]))
        if members:
            self._came_later[node] = members
        return bool(members)

    def scripts(self) -> Mapping[str, Script]:
        return scripts(self.version)

    def refuses(self, plan: Plan) -> str:
        """Every member has everything."""
        cluster = plan.cluster
        if cluster.brokers != cluster.replication_factor or cluster.partitions != 1:
            return "has one Raft group of all members: give it as many replicas as brokers, and one partition"
        return ""
