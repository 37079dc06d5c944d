"""The listening side: order of responses, limits, and what closes a connection."""

import asyncio
import contextlib
from io import BytesIO
from itertools import count

import pytest
from kio.schema.broker_heartbeat.v0.request import BrokerHeartbeatRequest
from kio.schema.broker_heartbeat.v0.response import BrokerHeartbeatResponse
from kio.schema.errors import ErrorCode

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.start_up import CannotStartError, bind
from tidemark.nodes.formats.wire.codec import API_VERSIONS, BROKER_HEARTBEAT, codec
from tidemark.nodes.formats.wire.frames import finish, request_frame
from tidemark.nodes.process.wire import server
from tidemark.nodes.process.wire.server import Listener

ALLOWED = {BROKER_HEARTBEAT: (0, 0), API_VERSIONS: (0, 3)}


def beat(correlation, client_id=b"test", epoch=0):
    how = codec(BROKER_HEARTBEAT, 0)
    out = request_frame(BROKER_HEARTBEAT, 0, correlation, client_id, flexible=how.flexible_request)
    body = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=epoch, current_metadata_offset=0, want_fence=False, want_shut_down=False
    )
    how.write_request(out, body)
    return finish(out)


def answer(may_stop=False):
    from datetime import timedelta

    return BrokerHeartbeatResponse(throttle_time=timedelta(0), error_code=ErrorCode.none, should_shut_down=may_stop)


class Served:
    """A listener whose requests pile up until the test answers them."""

    def __init__(self, on_request=None, **limits):
        self.requests = []
        self.closed = []
        take = on_request or self.requests.append
        handlers = {BROKER_HEARTBEAT: take, API_VERSIONS: take}
        self.listener = Listener("host", ALLOWED, handlers, count(1_000), self.closed.append, **limits)

    async def __aenter__(self):
        self.host, self.port = await self.listener.start_on(bind(Address("127.0.0.1", 0)))
        self._writers = []
        return self

    async def __aexit__(self, *_):
        self.listener.close()
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        await asyncio.sleep(0)

    async def connect(self):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        self._writers.append(writer)
        return reader, writer

    async def until(self, condition):
        async with asyncio.timeout(5):
            while not condition():  # noqa: ASYNC110 (no event tells)
                await asyncio.sleep(0.001)


async def correlation_of_next(reader):
    size = int.from_bytes(await reader.readexactly(4), "big")
    return int.from_bytes((await reader.readexactly(size))[:4], "big")


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


def test_responses_leave_in_the_order_of_the_requests():
    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(b"".join(beat(n) for n in range(4)))
            await served.until(lambda: len(served.requests) == 4)
            for n in (2, 1, 3):
                served.requests[n].reply(answer())
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await reader.read(1)
            served.requests[0].reply(answer())
            assert [await correlation_of_next(reader) for _ in range(4)] == [0, 1, 2, 3]

    run(case())


def test_a_request_without_a_response_is_skipped():
    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(beat(1) + beat(2))
            await served.until(lambda: len(served.requests) == 2)
            served.requests[1].reply(answer())
            served.requests[0].no_reply()
            assert await correlation_of_next(reader) == 2

    run(case())


def test_a_request_is_answered_once():
    async def case():
        async with Served() as served:
            _, writer = await served.connect()
            writer.write(beat(1))
            await served.until(lambda: served.requests)
            request = served.requests[0]
            request.reply(answer())
            assert request.answered
            with pytest.raises(RuntimeError, match="answered twice"):
                request.reply(answer())
            with pytest.raises(RuntimeError, match="answered twice"):
                request.no_reply()

    run(case())


def test_what_a_request_says_about_itself():
    async def case():
        async with Served() as served:
            _, writer = await served.connect()
            _, other = await served.connect()
            writer.write(beat(7, b"somebody", epoch=5))
            await served.until(lambda: served.requests)
            other.write(b"\0\0\0\x0b" + beat(8)[4:12] + b"\xff\xff" + b"\0")
            await served.until(lambda: served.closed)
            request = served.requests[0]
            assert (request.api_key, request.api_version, request.correlation_id) == (63, 0, 7)
            assert (request.client_id, request.body.broker_epoch) == ("somebody", 5)
            assert request.connection.listener == "host"
            assert request.connection.peer.startswith("127.0.0.1:")
            numbers = {request.connection.number, served.closed[0].number}
            assert numbers == {1_000, 1_001}

    run(case())


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\x04\x01",
        b"\0\0\0\x03abc",
        b"\0\0\0\x0a\0\x3f\0\0\0\0\0\x01\0\x05",
        b"\0\0\0\x0a\0\x3f\0\0\0\0\0\x01\xff\xfe",
        b"\0\0\0\x0b\0\x3f\0\x01\0\0\0\x01\xff\xff\0",
        b"\0\0\0\x0b\0\x00\0\x03\0\0\0\x01\xff\xff\0",
        b"\0\0\0\x0b\0\x3f\0\0\0\0\0\x01\xff\xff\0",
        b"\0\0\0\x0b\0\x3f\0\0\0\0\0\x01\xff\xff\x05",
    ],
    ids=["negative", "too long", "no header", "client id cut", "client id", "version", "api", "body", "tags"],
)
def test_what_cannot_be_served_closes_the_connection(sent, caplog):
    async def case():
        async with Served(max_request_bytes=1024) as served:
            reader, writer = await served.connect()
            bystander, its_writer = await served.connect()
            writer.write(sent)
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            its_writer.write(beat(3))
            await served.until(lambda: served.requests)
            served.requests[0].reply(answer())
            assert await correlation_of_next(bystander) == 3
            assert len(served.closed) == 1

    run(case())
    assert "closed a connection from 127.0.0.1:" in caplog.text


def test_requests_before_a_bad_one_are_served_and_later_ones_are_not():
    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(beat(1) + b"\0\0\0\x03abc" + beat(2))
            await served.until(lambda: served.closed)
            assert [request.correlation_id for request in served.requests] == [1]
            served.requests[0].reply(answer())
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""

    run(case())


def test_an_unknown_version_of_api_versions_is_answered_in_version_0():
    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(finish(request_frame(API_VERSIONS, 4, 5, b"new", flexible=True)))
            size = int.from_bytes(await reader.readexactly(4), "big")
            frame = await reader.readexactly(size)
            assert frame[:4] == b"\0\0\0\x05"
            body = codec(API_VERSIONS, 0).read_response(frame, 4)
            assert body.error_code is ErrorCode.unsupported_version
            assert [(k.api_key, k.min_version, k.max_version) for k in body.api_keys] == [(18, 0, 3)]
            writer.write(beat(6))
            await served.until(lambda: served.requests)

    run(case())


def test_too_many_unanswered_requests_are_not_read(monkeypatch):
    monkeypatch.setattr(server, "MAX_UNANSWERED", 3)

    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(b"".join(beat(n) for n in range(8)))
            await served.until(lambda: len(served.requests) == 3)
            await asyncio.sleep(0.02)
            assert len(served.requests) == 3
            for n in range(8):
                await served.until(lambda n=n: len(served.requests) > n)
                served.requests[n].reply(answer())
                assert await correlation_of_next(reader) == n

    run(case())


def test_a_client_that_does_not_read_is_not_read_either(monkeypatch):
    monkeypatch.setattr(server, "WRITE_BUFFER_BYTES", 1 << 16)
    seen = []

    def answer_at_length(request):
        seen.append(request)
        request._answer(bytes(1 << 20))

    async def case():
        async with Served(answer_at_length) as served:
            reader, writer = await served.connect()
            writer.transport.pause_reading()
            writer.write(b"".join(beat(n) for n in range(100)))
            await asyncio.sleep(0.1)
            stuck = len(seen)
            assert stuck < 100
            writer.transport.resume_reading()
            await reader.readexactly(100 << 20)
            assert len(seen) == 100

    run(case())


def test_answers_to_a_closed_connection_go_nowhere():
    async def case():
        async with Served() as served:
            _, writer = await served.connect()
            writer.write(beat(1) + beat(2))
            await served.until(lambda: len(served.requests) == 2)
            writer.close()
            await served.until(lambda: served.closed)
            assert served.requests[0].connection.closed
            served.requests[0].reply(answer())
            served.requests[1].no_reply()
            assert not served.listener.connections

    run(case())


def test_closing_a_listener_closes_its_connections_after_what_was_written():
    async def case():
        async with Served(lambda request: request.reply(answer())) as served:
            reader, writer = await served.connect()
            writer.write(beat(1))
            await served.until(lambda: served.listener.connections)
            assert await correlation_of_next(reader) == 1
            served.listener.close()
            assert await reader.read() == b""
            with pytest.raises(ConnectionRefusedError):
                await served.connect()

    run(case())


def test_a_muted_connection_drops_its_responses():
    async def case():
        async with Served() as served:
            reader, writer = await served.connect()
            writer.write(beat(1) + beat(2))
            await served.until(lambda: len(served.requests) == 2)
            connection = served.requests[0].connection
            connection.muted = True
            served.requests[0].reply(answer())
            connection.muted = False
            served.requests[1].reply(answer())
            assert await correlation_of_next(reader) == 2

    run(case())


def test_an_address_in_use_is_an_error():
    async def case():
        async with Served() as served:
            with pytest.raises(CannotStartError, match="in use"):
                await Served().listener.start_on(bind(Address("127.0.0.1", served.port)))

    run(case())


def test_a_request_in_one_byte_pieces():
    async def case():
        async with Served() as served:
            _, writer = await served.connect()
            for byte in BytesIO(beat(1)).getvalue():
                writer.write(bytes([byte]))
                await writer.drain()
            await served.until(lambda: served.requests)

    run(case())
