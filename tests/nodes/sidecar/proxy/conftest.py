"""A proxy between a fake broker and fake nodes, on loopback: node N connects from 127.0.0.N."""

from __future__ import annotations

import asyncio
import contextlib
from random import Random
from struct import Struct

import pytest
import uvloop

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.admin.message_rules import MessageRule, MessageRules
from tidemark.nodes.sidecar.proxy.proxy import Proxy

PATIENCE_S = 20
LOCALHOST = "127.0.0.1"
PEERS = {"127.0.0.9": 0, "127.0.0.2": 2, "127.0.0.3": 3}
FROM = {node: address for address, node in PEERS.items()}
LENGTH = Struct(">i")


def framed(body):
    return LENGTH.pack(len(body)) + body


def request(key, correlation, body=b"", version=5):
    """A Kafka request."""
    return framed(Struct(">hhi").pack(key, version, correlation) + b"\0\4test" + body)


def answer(correlation, body=b""):
    """A Kafka response."""
    return framed(LENGTH.pack(correlation) + body)


class Socket:
    """One end of a connection, for a test to use."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    def send(self, *frames):
        self.writer.write(b"".join(frames))

    async def receive(self, count=1):
        """Whole frames, with their length."""
        frames = []
        for _ in range(count):
            length = await self.reader.readexactly(4)
            frames.append(length + await self.reader.readexactly(LENGTH.unpack(length)[0]))
        return frames[0] if count == 1 else frames

    async def closed(self):
        """Wait until the other side has closed; fails if it sends."""
        with contextlib.suppress(ConnectionError):
            assert await self.reader.read(1) == b""

    async def silent(self):
        """Nothing has come, and it is open."""
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(self.reader.read(1), 0.05)

    async def push(self, piece, count, stuck_s=0.5):
        """Send a piece again and again until nothing more is taken for so long; how many were taken, or underway."""
        self.writer.transport.set_write_buffer_limits(0)
        for number in range(count):
            self.send(piece)
            try:
                await asyncio.wait_for(self.writer.drain(), stuck_s)
            except TimeoutError:
                return number + 1
        return count

    async def close(self):
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


class Stage:
    """The proxy, who listens behind it, and who comes."""

    def __init__(self, *, speaks="kafka", here=1, listening=True, **more):
        self.rules = MessageRules(Random("proxy"))
        self._listening = listening
        self._ends = []
        self._accepted = asyncio.Queue()
        self._make = lambda to: Proxy(
            Address(LOCALHOST, 0), to, speaks=speaks, here=here, peers=PEERS, rules=self.rules, **more
        )

    async def __aenter__(self):
        self.behind = await asyncio.start_server(self._accept, LOCALHOST, 0, limit=64 << 10)
        port = self.behind.sockets[0].getsockname()[1]
        if not self._listening:
            self.behind.close()
            await self.behind.wait_closed()
        self.proxy = self._make(Address(LOCALHOST, port))
        await self.proxy.start()
        return self

    async def __aexit__(self, *_):
        self.proxy.close()
        for end in self._ends:
            await end.close()
        self.behind.close()
        await self.over()

    async def _accept(self, reader, writer):
        end = Socket(reader, writer)
        self._ends.append(end)
        self._accepted.put_nowait(end)

    async def connect(self, node=2):
        """The requester's end."""
        local = (FROM.get(node, LOCALHOST), 0)
        end = Socket(*await asyncio.open_connection(LOCALHOST, self.proxy.port, local_addr=local))
        self._ends.append(end)
        return end

    async def pair(self, node=2):
        """Both ends of a new connection."""
        requester = await self.connect(node)
        return requester, await self._accepted.get()

    def put(self, effect, kind=None, source=None, to=None, amount=0, key="k"):
        self.rules.put(key, [MessageRule(kind, source, to, effect, amount)])

    async def over(self):
        """Wait until the proxy has no connection left."""
        while self.proxy.connections:  # noqa: ASYNC110 (the time-out of a test ends it)
            await asyncio.sleep(0.005)


@pytest.fixture
def stage():
    return Stage


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request):
    """Run a test's coroutine, on either event loop."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def run_it(coroutine):
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(_in_time(coroutine))

    return run_it


async def _in_time(coroutine):
    async with asyncio.timeout(PATIENCE_S):
        await coroutine


@pytest.fixture
def kafka():
    """Frames: ``kafka.request``, ``kafka.answer``, ``kafka.framed``."""

    class Frames:
        pass

    Frames.request, Frames.answer, Frames.framed = staticmethod(request), staticmethod(answer), staticmethod(framed)
    return Frames
