"""Outgoing connections: made when needed, closed when an answer is overdue, and never a queue without bound."""

import asyncio
import time
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from itertools import count

import pytest
from kio.schema.broker_heartbeat.v0.request import BrokerHeartbeatRequest
from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
from kio.schema.errors import ErrorCode

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.start_up import bind
from tidemark.nodes.formats.wire.codec import BROKER_HEARTBEAT
from tidemark.nodes.process.wire import peers as peers_module
from tidemark.nodes.process.wire.peers import Peers
from tidemark.nodes.process.wire.server import Listener


def ask(epoch=0):
    return BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=epoch, current_metadata_offset=0, want_fence=False, want_shut_down=False
    )


def answer():
    return BrokerHeartbeatResponse(throttle_time=timedelta(0), error_code=ErrorCode.none, should_shut_down=True)


class Node:
    """A peer whose requests the test answers."""

    def __init__(self, on_request=None):
        self.requests = []
        self.closed = []
        take = on_request or self.requests.append
        self.listener = Listener("internal", {63: (0, 0)}, {63: take}, count(1000), self.closed.append)

    async def start(self, port=0):
        _, self.port = await self.listener.start_on(bind(Address("127.0.0.1", port)))
        return self


@asynccontextmanager
async def peers_of(node, timeout_us=60_000_000):
    peers = Peers(asyncio.get_running_loop(), {5: Address("127.0.0.1", node.port)}, "broker-1", timeout_us)
    try:
        yield peers
    finally:
        peers.close()
        node.listener.close()
        await asyncio.sleep(0.01)


def say(peers, heard, epoch=0, purpose=""):
    peers.send(5, purpose, BROKER_HEARTBEAT, 0, ask(epoch), heard)


async def until(condition):
    patience = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < patience
        await asyncio.sleep(0)


@contextmanager
def clock_by_hand():
    """For the running loop, time passes only when it is told to: ``passes(seconds)``. A slow machine makes nothing overdue."""
    loop = asyncio.get_running_loop()
    now = loop.time()

    def passes(seconds):
        nonlocal now
        now += seconds

    loop.time = lambda: now
    yield passes
    del loop.time


def run(coroutine):
    asyncio.run(asyncio.wait_for(coroutine, 60))


def test_messages_of_a_purpose_share_a_connection_and_keep_their_order():
    async def case():
        node = await Node().start()
        heard = []
        async with peers_of(node) as peers:
            for epoch in range(3):
                say(peers, heard.append, epoch)
            say(peers, heard.append, 9, "t-0")
            await until(lambda: len(node.requests) == 4)
            by_connection = {}
            for request in node.requests:
                by_connection.setdefault(request.connection.number, []).append(request.body.broker_epoch)
                request.reply(answer())
            assert sorted(by_connection.values()) == [[0, 1, 2], [9]]
            assert {request.client_id for request in node.requests} == {"broker-1"}
            await until(lambda: len(heard) == 4)
            assert all(entity.should_shut_down for entity in heard)

    run(case())


def test_an_answer_to_a_later_request_means_that_none_comes_to_an_earlier():
    async def case():
        node = await Node().start()
        heard = []
        async with peers_of(node) as peers:
            for name in "abc":
                say(peers, lambda _, name=name: heard.append(name))
            await until(lambda: len(node.requests) == 3)
            node.requests[0].no_reply()
            node.requests[1].reply(answer())
            await until(lambda: heard)
            node.requests[2].reply(answer())
            await until(lambda: len(heard) == 2)
            assert heard == ["b", "c"]

    run(case())


def test_an_overdue_answer_closes_the_connection_and_the_next_message_makes_another():
    async def case():
        node = await Node().start()
        heard = []
        async with peers_of(node, 50_000) as peers:
            with clock_by_hand() as passes:
                say(peers, heard.append, 1)
                await until(lambda: node.requests)
                passes(0.05)
                await until(lambda: node.closed)
                say(peers, heard.append, 2)
                await until(lambda: len(node.requests) == 2)
                first, second = node.requests
                assert first.connection is not second.connection
                first.reply(answer())
                second.reply(answer())
                await until(lambda: heard)
                passes(0.1)
            say(peers, heard.append, 3)
            await until(lambda: len(node.requests) == 3)
            assert len(heard) == 1
            assert node.requests[2].connection is second.connection, "an idle connection stays"
            assert len(node.closed) == 1

    run(case())


def test_a_message_to_nobody_is_dropped_and_a_later_one_arrives():
    async def case():
        node = await Node().start()
        node.listener.close()
        heard = []
        async with peers_of(node) as peers:
            say(peers, heard.append, 1)
            refused = peers._connections[5, ""]
            await until(lambda: refused.closed)
            await node.start(node.port)
            say(peers, heard.append, 2)
            await until(lambda: node.requests)
            assert [request.body.broker_epoch for request in node.requests] == [2]

    run(case())


def test_a_connection_that_cannot_be_made_is_given_up_in_time(monkeypatch):
    async def case():
        async def never(*_, **__):
            await asyncio.sleep(100)

        node = await Node().start()
        loop = asyncio.get_running_loop()
        async with peers_of(node, 50_000) as peers:
            real = loop.create_connection
            monkeypatch.setattr(loop, "create_connection", never)
            say(peers, None, 1)
            connection = peers._connections[5, ""]
            await until(lambda: connection.closed)
            peers._timeout = 30
            monkeypatch.setattr(loop, "create_connection", real)
            say(peers, None, 2)
            await until(lambda: node.requests)

    run(case())


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(peers_module, "MAX_WAITING", 3)

    async def case():
        node = await Node().start()
        async with peers_of(node) as peers:
            for epoch in range(10):
                say(peers, lambda _: None, epoch)
            await until(lambda: len(node.requests) == 3)
            for request in list(node.requests):
                request.reply(answer())
            await until(lambda: not peers._connections[5, ""]._waiting)
            say(peers, None, 99)
            await until(lambda: len(node.requests) > 3)
            assert [request.body.broker_epoch for request in node.requests] == [0, 1, 2, 99]

    run(case())


@pytest.mark.parametrize(
    "sent", [b"\xff\xff\xff\xff", b"\0\0\0\x04\0\0\0\x63", b"\0\0\0\x05\0\0\0\x01\x09", b"\0\0\0\x01a"]
)
def test_an_answer_that_cannot_be_read_closes_the_connection(sent, caplog):
    async def case():
        node = await Node(lambda request: request._answer(sent)).start()
        async with peers_of(node, 5_000_000) as peers:
            say(peers, None, 1)
            await until(lambda: node.closed)

    run(case())
    assert "closed the connection to node 5" in caplog.text
