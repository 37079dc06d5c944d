"""What NATS' client of a queue asks, and what it makes of the answers: against a server that says what it is told to."""

import json
import socket
import threading

import pytest

from tidemark import Outcome
from tidemark.harness.systems.nats import client as module
from tidemark.harness.systems.nats import system
from tidemark.harness.systems.nats.client import NatsClient, NatsQueue
from tidemark.harness.systems.nats.connection import NatsConnection, NatsError

NEXT = "$JS.API.CONSUMER.MSG.NEXT.t-0.q"
INFO = "$JS.API.STREAM.INFO.t-0"
ACK = "$JS.ACK.t-0.q.1.4.1.99.0"
NO_MESSAGES = "404 No Messages"


class Server:
    """Answers requests by subject, on a port of its own.

    Attributes:
        answers: subject → a status such as ``404 No Messages``, a payload, a payload and where an answer to it goes, or None for no
            answer. asked: (subject, payload), in order.
    """

    def __init__(self):
        self.answers, self.asked, self.subscriptions = {}, [], {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.close()

    def _serve(self):
        stream, _ = self._listener.accept()
        with stream, stream.makefile("rwb", buffering=0) as lines:
            lines.write(b"INFO {}\r\n")
            while line := lines.readline():
                word, *words = line.decode().split()
                if word == "PING":
                    lines.write(b"PONG\r\n")
                elif word == "SUB":
                    self.subscriptions[words[0].removesuffix(".*")] = words[1]
                elif word == "PUB":
                    subject, inbox, size = words
                    self.asked.append((subject, lines.read(int(size) + 2)[:-2]))
                    lines.write(self._answer(subject, inbox))

    def _answer(self, subject, inbox):
        answer = self.answers.get(subject)
        number = self.subscriptions.get(inbox) or self.subscriptions[inbox.rpartition(".")[0]]
        if answer is None:
            return b""
        if isinstance(answer, tuple):  # a message of a stream comes under its own subject
            payload, reply = answer
            return f"MSG t-0 {number} {reply} {len(payload)}\r\n{payload}\r\n".encode()
        if answer[:3].isdigit() and " " in answer:
            head = f"NATS/1.0 {answer}\r\n\r\n"
            return f"HMSG {inbox} {number} {len(head)} {len(head)}\r\n{head}\r\n".encode()
        return f"MSG {inbox} {number} {len(answer)}\r\n{answer}\r\n".encode()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def queue(server):
    client = NatsQueue("t-0")
    client.open(server.address)
    yield client
    client.close()


def waits_briefly(queue):
    queue._connection._patience_s = 0.05


def test_what_is_stored_is_enqueued(queue, server):
    server.answers["t-0"] = json.dumps({"stream": "t-0", "seq": 4})

    assert queue.invoke("enqueue", 7) == Outcome("ok")
    assert server.asked == [("t-0", b"7")]


@pytest.mark.parametrize("answer", [None, "503 ", json.dumps({"error": {"code": 503, "description": "unavailable"}})])
def test_whatever_goes_wrong_with_an_enqueue_proves_nothing(queue, server, answer):
    waits_briefly(queue)
    server.answers["t-0"] = answer

    with pytest.raises((NatsError, OSError), match=r"no answer in time|timed out|no responders \(503\)|unavailable"):
        queue.invoke("enqueue", 7)


def test_what_was_acknowledged_and_confirmed_is_taken(queue, server):
    server.answers |= {NEXT: ("7", ACK), ACK: ""}

    assert queue.invoke("dequeue", None) == Outcome("ok", 7)
    assert server.asked == [(NEXT, b'{"batch": 1, "no_wait": true}'), (ACK, b"+ACK")]


def test_an_acknowledgement_that_is_not_confirmed_proves_nothing(queue, server):
    waits_briefly(queue)
    server.answers |= {NEXT: ("7", ACK), ACK: None}

    with pytest.raises(TimeoutError):
        queue.invoke("dequeue", None)


def test_what_is_confirmed_so_late_that_another_may_have_it_proves_nothing(queue, server, monkeypatch):
    monkeypatch.setattr(module, "ACK_WAIT_S", 0)
    server.answers |= {NEXT: ("7", ACK), ACK: ""}

    assert queue.invoke("dequeue", None).type == "info"


@pytest.mark.parametrize("answer", [None, "409 Leadership Change", "408 Requests Pending", "503 "])
def test_until_it_is_acknowledged_nothing_is_taken(queue, server, answer):
    waits_briefly(queue)
    server.answers[NEXT] = answer

    outcome = queue.invoke("dequeue", None)
    assert outcome.type == "fail"
    assert outcome.error.startswith("nothing was acknowledged: ")


@pytest.mark.parametrize(("left", "outcome"), [(0, ("ok", None)), (2, ("fail", None))])
def test_a_queue_is_empty_when_nobody_holds_anything_either(queue, server, left, outcome):
    server.answers |= {NEXT: NO_MESSAGES, INFO: json.dumps({"state": {"messages": left}})}

    assert queue.invoke("dequeue", None)[:2] == outcome


def test_a_message_that_comes_late_is_not_the_answer_to_another_request(queue, server):
    waits_briefly(queue)
    server.answers[NEXT] = None
    assert queue.invoke("dequeue", None).type == "fail"
    late = next(number for inbox, number in server.subscriptions.items() if ".taken." in inbox)
    server.answers |= {NEXT: f"MSG t-0 {late} {ACK} 1\r\n7\r\n"}
    server._answer = lambda *_: server.answers[NEXT].encode()

    assert queue.invoke("dequeue", None).type == "fail"


@pytest.mark.parametrize(
    ("version", "wish"),
    [
        ("2.10.26", b""),
        ("2.11.0", b'{"placement": {"preferred": "n1"}}'),
        ("2.15.1", b'{"placement": {"preferred": "n1"}}'),
    ],
)
def test_a_server_is_told_who_is_to_lead_where_it_takes_that(server, monkeypatch, version, wish):
    monkeypatch.setattr(system, "LEADER_S", 0.05)
    monkeypatch.setattr(system, "LOOK_S", 0)
    server.answers[INFO] = json.dumps({"cluster": {"leader": "n2", "replicas": [{"current": True}]}})
    server.answers["$JS.API.STREAM.LEADER.STEPDOWN.t-0"] = json.dumps({"success": True})
    connection = NatsConnection(server.address)

    system.NatsSystem(version)._have_first_lead(connection, "STREAM", "t-0")
    connection.close()
    assert ("$JS.API.STREAM.LEADER.STEPDOWN.t-0", wish) in server.asked


def test_a_log_is_read_as_before(server, monkeypatch):
    client = NatsClient()
    client.open(server.address)
    message = json.dumps({"message": {"seq": 4, "data": "Nw=="}})
    server.answers["$JS.API.STREAM.MSG.GET.t-0"] = message
    monkeypatch.setattr(module, "MOST_IN_A_POLL", 1)

    assert client.invoke("poll", ("t-0", 3)) == Outcome("ok", [(3, 7)])
    client.close()
