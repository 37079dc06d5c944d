"""What Fluss' client asks, whom, and what it makes of the answers: against a server that says what it is told to."""

import socket
import struct
import threading

import pytest

from tidemark.harness.systems.fluss import client as module
from tidemark.harness.systems.fluss.batches import batch_of
from tidemark.harness.systems.fluss.client import FlussClient
from tidemark.harness.systems.fluss.connection import API_VERSIONS, FlussError, connected
from tidemark.harness.systems.fluss.fields import decode, encode
from tidemark.harness.systems.fluss.requests import FETCH_LOG, GET_METADATA, PRODUCE_LOG, produce, table_of


class Server:
    """Answers on a port of its own, in a thread for each connection.

    Attributes:
        answers: API → the message, or an error's (code, words). asked: (API, fields), in order.
    """

    def __init__(self):
        self.answers, self.asked = {API_VERSIONS: b""}, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self):
        self._listener.close()

    def leads(self, leader):
        """Say that a tablet server of this number, at this address, leads table 5."""
        host, port = self.address
        server = encode([(1, 2), (2, host.encode()), (3, port)])
        bucket = encode([(1, 0), (2, leader), (3, bytes([2, 3, 1])), (4, 7)])
        self.answers[GET_METADATA] = encode([(2, server), (3, encode([(2, 5), (5, bucket)]))])

    def _listen(self):
        try:
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()
        except OSError:
            pass

    def _serve(self, stream):
        with stream, stream.makefile("rb") as requests:
            while head := requests.read(12):
                length, api, _, number = struct.unpack(">ihhi", head)
                self.asked.append((api, list(decode(requests.read(length - 8)))))
                answer = self.answers.get(api)
                if answer is None:
                    return
                if isinstance(answer, tuple):
                    code, words = answer
                    kind, answer = 1, encode([(1, code), (2, words)])
                else:
                    kind = 0
                stream.sendall(struct.pack(">ibi", 5 + len(answer), kind, number) + answer)


@pytest.fixture
def server():
    server = Server()
    server.leads(2)
    yield server
    server.close()


@pytest.fixture
def client(server):
    client = FlussClient()
    client.open(server.address)
    yield client
    client.close()


def produced(**fields):
    return encode([(1, encode([(2, 0), *((int(key[1:]), value) for key, value in fields.items())]))])


def test_a_record_goes_to_the_leader_alone_with_acks_of_all(server, client):
    server.answers[PRODUCE_LOG] = produced(_5=41)

    assert client.invoke("send", ("t-0", 9)) == ("ok", 41, None)
    api, fields = server.asked[-1]
    assert (api, fields[:2]) == (PRODUCE_LOG, [(1, -1), (2, 5)])
    assert dict(decode(fields[3][1]))[3] == batch_of(9)


def test_the_same_leader_is_not_looked_for_again(server, client):
    server.answers[PRODUCE_LOG] = produced(_5=41)
    client.invoke("send", ("t-0", 9))
    client.invoke("send", ("t-0", 10))

    assert [api for api, _ in server.asked].count(GET_METADATA) == 1


def test_without_a_leader_nothing_was_done(server, client):
    server.leads(-1)
    outcome = client.invoke("send", ("t-0", 9))

    assert (outcome.type, outcome.error) == ("fail", "no leader: LookupError: t-0 is led by -1, which is not there")


def test_too_few_in_sync_before_the_append_is_a_failure(server, client):
    server.answers[PRODUCE_LOG] = produced(_3=module.NOT_ENOUGH_REPLICAS, _4=b"too few")

    assert client.invoke("send", ("t-0", 9)) == ("fail", None, "too few (error 29)")


@pytest.mark.parametrize("code", [12, 25, 28])
def test_any_other_error_proves_nothing(server, client, code):
    server.answers[PRODUCE_LOG] = produced(_3=code, _4=b"no")

    with pytest.raises(FlussError, match=rf"no \(error {code}\)"):
        client.invoke("send", ("t-0", 9))


def test_who_hangs_up_has_said_nothing(server, client):
    with pytest.raises(ConnectionError, match="hung up"):
        client.invoke("send", ("t-0", 9))


def test_a_poll_gives_what_lies_from_its_position_on(server, client):
    stored = b"".join(struct.pack("<q", base) + batch_of(70 + base)[8:] for base in (3, 4))
    server.answers[FETCH_LOG] = encode([(1, encode([(1, 5), (2, encode([(2, 0), (5, 5), (8, stored)]))]))])

    assert client.invoke("poll", ("t-0", 4)) == ("ok", [(4, 74)], None)


def test_a_table_is_told_with_leader_epoch_and_replicas(server):
    connection = connected(server.address)

    assert table_of(connection, "t-0") == (5, 2, 7, (2, 3, 1), {2: server.address})
    connection.close()


def test_a_refusal_has_its_first_line(server):
    server.answers[PRODUCE_LOG] = (3, b"what it is\n\tat its place")
    connection = connected(server.address)

    with pytest.raises(FlussError, match=r"^what it is \(error 3\)$"):
        produce(connection, 5, 9)
    connection.close()
