"""A whole cluster of node processes on loopback, for tests."""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from forked_node import ForkedNode
from kept_ports import keep_ports
from kio.schema.errors import ErrorCode
from kio.schema.produce.v7.request import PartitionProduceData, ProduceRequest, TopicProduceData

from tidemark.harness.live.state_among import state_among
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.formats.wire.codec import codec
from tidemark.nodes.formats.wire.frames import FrameReader, finish, request_frame
from tidemark.nodes.formats.wire.shape import skip_tags

PATIENCE_S = 60
NOTHING_WRITTEN = {ErrorCode.not_leader_or_follower, ErrorCode.not_enough_replicas}


def eventually(question, what="", patience_s=PATIENCE_S):
    """The first true answer; fails the test if there is none in time."""
    until = time.monotonic() + patience_s
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < until, what or "it did not happen"
        time.sleep(0.02)


class AdminClient:
    """One connection to a node's admin port: ``admin("status")``. Lines of ``watch`` are kept in ``traces``."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._lines = self._socket.makefile("rb")
        self._next = 0
        self.traces = []

    def __call__(self, do, **entries):
        """The answer; fails the test on an error."""
        answer = self.ask({"do": do, **entries})
        assert "error" not in answer, answer
        return answer

    def ask(self, command):
        """The answer, also if it is an error."""
        self._next += 1
        self._socket.sendall(json.dumps({"id": self._next, **command}).encode() + b"\n")
        while True:
            answer = self.read_line()
            if "trace" not in answer:
                assert answer["id"] == self._next
                return answer

    def read_line(self):
        """The next line."""
        line = self._lines.readline()
        if not line:
            raise ConnectionError("the admin port was closed")
        found = json.loads(line)
        if "trace" in found:
            self.traces.append(found["trace"])
        return found

    def close(self):
        self._lines.close()
        self._socket.close()


class RawClient:
    """A client that sends one request at a time, or whatever bytes a test likes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._reader = FrameReader(64 << 20)
        self._frames = []
        self._correlation = 0

    def send(self, key, version, body):
        """Send a request; its correlation id."""
        how = codec(key, version)
        self._correlation += 1
        out = request_frame(key, version, self._correlation, b"test", flexible=how.flexible_request)
        how.write_request(out, body)
        self.socket.sendall(finish(out))
        return self._correlation

    def receive(self, key, version):
        """The next response: correlation id and entity."""
        how = codec(key, version)
        frame = self.next_frame()
        at = skip_tags(frame, 4) if how.response_header else 4
        return int.from_bytes(frame[:4], "big"), how.read_response(frame, at)

    def ask(self, key, version, body):
        """Send a request and wait for its response."""
        sent = self.send(key, version, body)
        received, entity = self.receive(key, version)
        assert received == sent
        return entity

    def next_frame(self):
        """The next frame, without its length."""
        while not self._frames:
            data = self.socket.recv(1 << 16)
            if not data:
                raise ConnectionError("the connection was closed")
            self._frames += self._reader.feed(data)
        return self._frames.pop(0)

    def was_closed(self):
        """Whether the node closes the connection without another word."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


def produce_request(values, partition="t-0", acks=-1, timeout_ms=3_000):
    """A Produce request, version 7, of one batch."""
    topic, _, index = partition.rpartition("-")
    part = PartitionProduceData(index=int(index), records=build(values))
    return ProduceRequest(
        transactional_id=None,
        acks=acks,
        timeout=timedelta(milliseconds=timeout_ms),
        topic_data=(TopicProduceData(name=topic, partition_data=(part,)),),
    )


class LocalCluster:
    """A controller (node 0), if the family has one, and brokers as processes on loopback; it ends what it started.

    Args:
        root: the nodes' folders go here.
        variant: as typed.
        cluster: its shape.
        first_leader_epoch: the epoch of the first leader.
    """

    def __init__(self, root, variant="kafka-2.7", cluster=None, first_leader_epoch=0):
        self.root = Path(root)
        self.variant = variant
        self.cluster = cluster or ClusterSpec()
        self.first_leader_epoch = first_leader_epoch
        self.brokers = self.cluster.broker_ids()
        self.nodes = (0, *self.brokers)
        family = family_of(parse_variant(variant))
        self.has_controller = family.has_isr
        if not self.has_controller:  # who stands first begins last: it asks when the others can hear
            self.nodes = (*((0,) if family.has_node_0 else ()), *reversed(self.brokers))
        self.processes = {}
        self.incarnations = {}
        self.paths = {}
        """Node → entries of its configuration that differ."""
        self._admins = {}
        self._kept = ExitStack()
        self._internal = self._ports((0, *self.brokers))
        self._host = self._ports(self.brokers)
        self._admin = self._ports((0, *self.brokers))

    def _ports(self, nodes):
        return dict(zip(nodes, keep_ports(len(nodes), self._kept), strict=True))

    def __enter__(self):
        for node in self.nodes:
            self.start(node)
        return self

    def __exit__(self, *_):
        for node in list(self.processes):
            self.kill(node)
        self._kept.close()

    # Processes

    @property
    def bootstrap(self):
        """For Kafka's clients: the host listeners of all brokers."""
        return ",".join(f"127.0.0.1:{port}" for port in self._host.values())

    def port(self, node, listener="host"):
        """A listener's port."""
        return (self._host if listener == "host" else self._internal)[node]

    def folder(self, node):
        """Where a node has its files."""
        return self.root / f"node-{node}"

    def config(self, node):
        """A node's configuration, as plain values."""
        here = {n: f"127.0.0.1:{port}" for n, port in self._internal.items()}
        hosts = {n: f"127.0.0.1:{port}" for n, port in self._host.items()}
        listeners = {"internal": {"bind": here[node], "advertise": here[node]}}
        if node:
            listeners["host"] = {"bind": hosts[node], "advertise": hosts[node]}
        folder = self.folder(node)
        return {
            "node": node,
            "incarnation": self.incarnations.get(node, 1),
            "variant": self.variant,
            "cluster": self.cluster.to_json(),
            "first_leader_epoch": self.first_leader_epoch,
            "listeners": listeners,
            "peers": here,
            "hosts": hosts,
            "admin": f"127.0.0.1:{self._admin[node]}",
            "data": str(folder / "data"),
            "volatile": str(folder / "volatile"),
            "trace": str(folder / "trace.jsonl"),
            "given": {},
            **self.paths.get(node, {}),
        }

    def start(self, node):
        """Start a node's next incarnation."""
        assert node not in self.processes, f"node {node} is running"
        self.incarnations[node] = self.incarnations.get(node, 0) + 1
        folder = self.folder(node)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "node.json"
        path.write_text(json.dumps(self.config(node)))
        self.processes[node] = ForkedNode(path, folder / "log")

    def kill(self, node):
        """SIGKILL; the exit code."""
        self.processes[node].kill()
        return self.wait(node)

    def terminate(self, node):
        """SIGTERM, and wait for the end; the exit code."""
        self.processes[node].terminate()
        return self.wait(node)

    def wait(self, node):
        """Wait for the end of a node's process; the exit code."""
        admin = self._admins.pop(node, None)
        if admin is not None:
            admin.close()
        return self.processes.pop(node).wait(PATIENCE_S)

    def signal(self, node, number):
        """Send a signal."""
        self.processes[node].send_signal(number)

    # Looking

    def admin(self, node):
        """A connection to the node's admin port, which is waited for."""
        if node not in self._admins:
            self._admins[node] = eventually(lambda: self._connect(node), f"node {node} has no admin port")
        return self._admins[node]

    def _connect(self, node):
        assert self.processes[node].poll() is None, (self.folder(node) / "log").read_text()
        try:
            return AdminClient(self._admin[node])
        except ConnectionError:
            return None

    def status(self, node, partition=None):
        """A node's status, or a partition's part of it ({} if it has none)."""
        found = self.admin(node)("status")
        return found if partition is None else found["partitions"].get(partition, {})

    def state(self, partition="t-0"):
        """What the controller holds of a partition; without one, what the running replicas say together."""
        if self.has_controller:
            return self.status(0, partition)
        return state_among(
            partition,
            self.cluster.assignment()[partition],
            {b: self.admin(b)("status") for b in self.brokers if b in self.processes},
        )

    def leader(self, partition="t-0"):
        """The controller's leader, once there is one."""
        return eventually(lambda: max(self.state(partition)["leader"], 0), f"{partition} has no leader")

    def settled(self, partition="t-0"):
        """Wait until all replicas of a partition are in the ISR and have the same log end and high watermark; the leader."""
        return eventually(lambda: self._settled(partition), f"{partition} does not come to rest")

    def _settled(self, partition):
        state = self.state(partition)
        replicas = [self.status(b, partition) for b in state["replicas"]]
        leos = {replica.get("leo") for replica in replicas} | {replica.get("hw") for replica in replicas}
        epochs = {replica.get("leader_epoch") for replica in replicas}
        whole = set(state["isr"]) == set(state["replicas"]) and len(leos) == 1 and epochs == {state["leader_epoch"]}
        return state["leader"] if whole else None

    def trace(self, node, event=None):
        """A node's trace, or its entries of one kind."""
        path = self.folder(node) / "trace.jsonl"
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        return [entry for entry in entries if event in (None, entry[2])]

    # Clients

    def client(self, node, listener="host"):
        """A raw client; closed with the cluster."""
        client = RawClient(self.port(node, listener))
        self._kept.callback(client.close)
        return client

    def produce(self, values, partition="t-0", acks=-1):
        """Write one batch to the leader, in a raw Produce request; kio's part of the response about it.

        Does what any client does when it is told that nothing was written, because the leader does not know yet that it leads, or
        the ISR is too small for now: asks again.
        """
        return eventually(lambda: self._produced(values, partition, acks), "nobody took the batch")

    def _produced(self, values, partition, acks):
        self.admin(leader := self.leader(partition))
        client = self.client(leader)
        answer = client.ask(0, 7, produce_request(values, partition, acks)).responses[0].partition_responses[0]
        client.close()
        return None if answer.error_code in NOTHING_WRITTEN else answer
