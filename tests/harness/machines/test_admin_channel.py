"""Requests and trace events on one connection, and what happens when it ends."""

import json
import queue
import socket
import threading

import pytest

from tidemark.harness.machines.admin_channel import AdminChannel
from tidemark.harness.machines.errors import NodeError, NodeSilent


class Port:
    """An admin port that a test plays: it hands over each request, and sends what the test wants."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.requests = queue.Queue()
        self.connections = []
        self.refuse = False

    def connect(self):
        if self.refuse:
            raise ConnectionRefusedError("refused")
        ours = socket.create_connection(self.server.getsockname())
        theirs, _ = self.server.accept()
        self.connections.append(theirs)
        threading.Thread(target=self._read, args=(theirs,), daemon=True).start()
        return ours

    def _read(self, connection):
        with connection.makefile() as lines:
            try:
                for line in lines:
                    self.requests.put(json.loads(line))
            except OSError:
                return

    def send(self, **message):
        self.connections[-1].sendall(json.dumps(message).encode() + b"\n")

    def request(self):
        return self.requests.get(timeout=5)

    def hang_up(self):
        connection = self.connections.pop()
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()


@pytest.fixture
def port():
    port = Port()
    yield port
    port.server.close()
    for connection in port.connections:
        connection.close()


@pytest.fixture
def lost():
    return threading.Event()


@pytest.fixture
def channel(port, lost):
    channel = AdminChannel(port.connect, "b1", lost.set)
    yield channel
    channel.close()


def test_answers_find_their_requests_in_any_order(channel, port):
    first, second = channel.post("status"), channel.post("log", partition="t-0")
    requests = [port.request(), port.request()]
    port.send(id=requests[1]["id"], ok=True, batches=[])
    port.send(id=requests[0]["id"], ok=True, node=1)

    assert requests[1] == {"id": requests[1]["id"], "do": "log", "partition": "t-0"}
    assert channel.wait(first, "status")["node"] == 1
    assert channel.wait(second, "log")["batches"] == []


def test_a_refusal_is_an_error_with_the_nodes_words(channel, port):
    asked = channel.post("elect")
    port.send(id=port.request()["id"], error="only the controller holds elections")

    with pytest.raises(NodeError, match=r"^b1 refused 'elect': only the controller holds elections$"):
        channel.wait(asked, "elect")


def test_a_node_that_stands_still_does_not_answer_in_time(channel):
    with pytest.raises(NodeSilent, match=r"^b1 did not answer 'status' within 0\.01 s$"):
        channel.ask("status", timeout_s=0.01)


def test_a_node_that_hangs_up_ends_the_wait_and_is_reported(channel, port, lost):
    asked = channel.post("status")
    port.request()
    port.hang_up()

    with pytest.raises(NodeSilent, match=r"^b1 hung up before it answered$"):
        channel.wait(asked, "status")
    assert lost.wait(5)
    assert not channel.is_open


def test_closing_it_is_no_loss(channel, port, lost):
    channel.open()
    channel.close()

    assert not channel.is_open
    assert not lost.is_set()


def test_nobody_listens(channel, port):
    port.refuse = True

    with pytest.raises(NodeError, match=r"^b1: no connection to its admin port: refused$"):
        channel.ask("status")


def test_watched_events_arrive_also_on_the_next_connection(channel, port, lost):
    seen = queue.Queue()
    watching = threading.Thread(target=channel.watch, args=(["truncate", "append"], seen.put))
    watching.start()
    request = port.request()
    port.send(trace=[5, 1, "append", "t-0", 0, 0, 1])
    port.send(id=request["id"], ok=True)
    watching.join()
    port.hang_up()
    assert lost.wait(5)
    channel.open()
    again = port.request()
    port.send(trace=[9, 1, "truncate", "t-0", 0, 1, "why", 2])

    assert (request["do"], request["events"]) == ("watch", ["append", "truncate"])
    assert (again["do"], again["events"]) == ("watch", ["append", "truncate"])
    assert [seen.get(timeout=5)[0], seen.get(timeout=5)[0]] == [5, 9]


def test_what_is_to_be_watched_later_is_asked_when_it_connects(channel, port):
    channel.watch_later({"lead"}, lambda event: None)
    channel.open()

    assert port.request()["events"] == ["lead"]


def test_damaged_lines_are_left_out(channel, port):
    asked = channel.post("status")
    number = port.request()["id"]
    port.connections[-1].sendall(b"not json\n")
    port.send(id=number, ok=True)

    assert channel.wait(asked, "status")["ok"]
