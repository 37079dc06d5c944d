"""A topic that is there before its brokers."""

import json
import socketserver
import struct
import threading

import pytest

from nodes.kafka.seed_topic import NOBODY, SeedError, hand_over, main, seed_topic
from nodes.kafka.zookeeper_client import ZooKeeperClient, ZooKeeperError

NO_NODE, NODE_EXISTS, NO_PARENT = -101, -110, -101
CREATE, DELETE, GET, CHILDREN, CLOSE = 1, 2, 4, 8, -11


class FakeZooKeeper:
    """A server that keeps nodes in memory, for one client at a time; it listens on loopback while it is entered.

    Attributes:
        nodes: path → data.
        interrupts: frames that are sent before the next answer, as a ping's.
        on_delete: called with the path of a node that was deleted.
    """

    def __init__(self):
        self.nodes = {"/": b""}
        self.interrupts = []
        self.on_delete = lambda path: None
        fake = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                fake.serve(self.request)

        self.server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def serve(self, connection):
        """One session."""
        self.receive(connection)
        self.send(connection, struct.pack(">iiqi16s", 0, 10_000, 1, 16, b""))
        while (request := self.receive(connection)) is not None:
            xid, operation = struct.unpack_from(">ii", request)
            if operation == CLOSE:
                return
            for frame in self.interrupts:
                self.send(connection, frame)
            self.interrupts = []
            error, answer = self.answer(operation, request[8:])
            self.send(connection, struct.pack(">iqi", xid, 1, error) + answer)

    def answer(self, operation, fields):
        path, rest = self.text(fields)
        if operation == CREATE:
            if path in self.nodes:
                return NODE_EXISTS, b""
            if (path.rpartition("/")[0] or "/") not in self.nodes:
                return NO_PARENT, b""
            (size,) = struct.unpack_from(">i", rest)
            self.nodes[path] = rest[4 : 4 + size]
            return 0, struct.pack(">i", len(path)) + path.encode()
        if path not in self.nodes:
            return NO_NODE, b""
        if operation == DELETE:
            del self.nodes[path]
            self.on_delete(path)
            return 0, b""
        if operation == GET:
            return 0, struct.pack(">i", len(self.nodes[path])) + self.nodes[path] + bytes(68)
        names = [p.rpartition("/")[2] for p in self.nodes if p != "/" and (p.rpartition("/")[0] or "/") == path]
        return 0, struct.pack(">i", len(names)) + b"".join(struct.pack(">i", len(n)) + n.encode() for n in names)

    @staticmethod
    def text(fields):
        (size,) = struct.unpack_from(">i", fields)
        return fields[4 : 4 + size].decode(), fields[4 + size :]

    @staticmethod
    def send(connection, frame):
        connection.sendall(struct.pack(">i", len(frame)) + frame)

    @staticmethod
    def receive(connection):
        head = connection.recv(4, 0x100)  # MSG_WAITALL
        if len(head) < 4:
            return None
        return connection.recv(struct.unpack(">i", head)[0], 0x100)


@pytest.fixture
def server():
    with FakeZooKeeper() as fake:
        yield fake


@pytest.fixture
def client(server):
    with ZooKeeperClient("127.0.0.1", server.port) as client:
        yield client


def stored(server, path):
    return json.loads(server.nodes[path])


def test_nodes_are_made_read_listed_and_deleted(client):
    assert client.create("/a", b"1")
    assert not client.create("/a", b"2")
    assert client.create("/a/c")
    assert client.create("/a/b")
    assert client.get("/a") == b"1"
    assert client.get("/nothing") is None
    assert client.children("/a") == ["b", "c"]
    assert client.children("/nothing") == []
    assert client.delete("/a/b")
    assert not client.delete("/a/b")


def test_what_is_not_an_answer_is_passed_over(server, client):
    server.interrupts = [struct.pack(">iqi", -2, 1, 0), struct.pack(">iqi", -1, 1, 0)]

    assert client.create("/a", b"1")


def test_an_error_has_words(client):
    with pytest.raises(ZooKeeperError, match="refused operation 1 with error -101"):
        client.create("/no/parent")


def test_a_server_that_is_not_there_has_words():
    with pytest.raises(ZooKeeperError, match=r"ZooKeeper at 127\.0\.0\.1:1 does not answer"):
        ZooKeeperClient("127.0.0.1", 1)


def test_a_topic_has_its_leader_epoch_and_isr_from_the_first(server, client):
    seed_topic(client, "t", {0: [2, 1, 3]}, leader_epoch=5, config={"min.insync.replicas": "2"})

    assert stored(server, "/brokers/topics/t/partitions/0/state") == {
        "controller_epoch": 0,
        "leader": 2,
        "version": 1,
        "leader_epoch": 5,
        "isr": [2, 1, 3],
    }
    assert stored(server, "/brokers/topics/t")["partitions"] == {"0": [2, 1, 3]}
    assert stored(server, "/config/topics/t") == {"version": 1, "config": {"min.insync.replicas": "2"}}


def test_nobody_can_be_the_controller_meanwhile(server, client):
    seed_topic(client, "t", {0: [1]}, leader_epoch=0)

    assert stored(server, "/controller")["brokerid"] == NOBODY
    with pytest.raises(SeedError, match="has a controller already"):
        seed_topic(client, "u", {0: [1]}, leader_epoch=0)


def brokers(server, *ids):
    server.nodes |= {"/brokers/ids": b""} | {f"/brokers/ids/{broker}": b"" for broker in ids}


def elect(server, broker):
    """The first broker that sees the place free takes it."""
    server.on_delete = lambda path: server.nodes.update({path: json.dumps({"brokerid": broker}).encode()})


def test_the_place_is_handed_over_once_all_are_there(server, client):
    seed_topic(client, "t", {0: [1]}, leader_epoch=0)
    brokers(server, 0, 1)
    elect(server, 0)

    hand_over(client, 0, [0, 1])

    assert stored(server, "/controller")["brokerid"] == 0


def test_a_broker_that_is_missing_is_named(server, client):
    seed_topic(client, "t", {0: [1]}, leader_epoch=0)
    brokers(server, 0)

    with pytest.raises(SeedError, match=r"did not register within 0\.1 s: 1, 2"):
        hand_over(client, 0, [0, 1, 2], 0.1)


def test_another_controller_is_named(server, client):
    seed_topic(client, "t", {0: [1]}, leader_epoch=0)
    brokers(server, 0, 1)
    elect(server, 1)

    with pytest.raises(SeedError, match="Broker 1 became the controller instead of broker 0"):
        hand_over(client, 0, [0, 1])


def test_the_command_does_both(server, capsys):
    zookeeper = ["--zookeeper", f"127.0.0.1:{server.port}"]
    seed = [*zookeeper, "seed", "--topic", "t", "--partitions", '{"0": [1, 2]}', "--leader-epoch", "3"]

    assert main(seed) == 0
    assert stored(server, "/brokers/topics/t/partitions/0/state")["leader_epoch"] == 3
    brokers(server, 0, 1, 2)
    elect(server, 0)
    assert main([*zookeeper, "hand-over", "--to", "0", "--registered", "0,1,2"]) == 0
    assert main(seed) == 2
    assert capsys.readouterr().err.startswith("seed_topic: The cluster has a controller already")
