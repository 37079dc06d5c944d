"""Outgoing connections to other nodes.

Each peer has a connection for everything that is answered at once, and one for each partition that is fetched from it, as a
parked fetch would hold up what comes behind it. A connection is made when there is something to send. One that leaves a request
unanswered for too long is closed, and the next message makes a new one: after a partition heals, the first message gets
through, where TCP alone would still be backing off. What cannot be sent is dropped; the core repeats it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from tidemark.nodes.admin.config_file import Address
from tidemark.nodes.formats.wire.codec import UNREADABLE, Codec, codec
from tidemark.nodes.formats.wire.frames import MAX_RESPONSE_BYTES, FrameError, FrameReader, finish, request_frame
from tidemark.nodes.formats.wire.names import MeaninglessError
from tidemark.nodes.formats.wire.shape import skip_tags

log = logging.getLogger(__name__)

MAX_WAITING = 1_000
"""Requests of one connection that wait to be sent or answered; further ones are dropped."""

OnAnswer = Callable[[Any], None]


class _Waiting(NamedTuple):
    correlation_id: int
    sent: float
    how: Codec
    on_answer: OnAnswer


class PeerConnection(asyncio.Protocol):
    """One connection, from the first message on until it fails or is closed.

    Args:
        loop: the event loop.
        name: of the peer and purpose, for the log.
        client_id: what this node calls itself.
        timeout: seconds for connecting, and for the answer to a request.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, name: str, client_id: bytes, timeout: float) -> None:
        """Nothing is connected before :meth:`connect`."""
        self.closed = False
        self._loop = loop
        self._name = name
        self._client_id = client_id
        self._timeout = timeout
        self._reader = FrameReader(MAX_RESPONSE_BYTES)
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._waiting: deque[_Waiting] = deque()
        self._correlation = 0
        self._connecting: asyncio.Task[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._writable = True

    def connect(self, address: Address) -> None:
        """Begin to connect."""
        self._connecting = self._loop.create_task(self._connect(address))

    async def _connect(self, address: Address) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._loop.create_connection(lambda: self, address.host, address.port)
        except (OSError, TimeoutError):
            self.close()

    def send(self, key: int, version: int, body: object, on_answer: OnAnswer) -> None:
        """Send a request. Its answer may never come."""
        if self.closed or not self._writable or len(self._waiting) >= MAX_WAITING:
            return
        how = codec(key, version)
        self._correlation += 1
        out = request_frame(key, version, self._correlation, self._client_id, flexible=how.flexible_request)
        how.write_request(out, body)
        frame = finish(out)
        self._waiting.append(_Waiting(self._correlation, self._loop.time(), how, on_answer))
        if self._transport is None:
            self._unsent.append(frame)
        else:
            self._transport.write(frame)
        if self._watch is None:
            self._watch = self._loop.call_later(self._timeout, self._look)

    def overdue(self) -> bool:
        """Whether an answer should be here by now."""
        return bool(self._waiting) and self._loop.time() - self._waiting[0].sent >= self._timeout

    def _look(self) -> None:
        self._watch = None
        if self.overdue():
            self.close()
        elif self._waiting:
            due = self._waiting[0].sent + self._timeout
            self._watch = self._loop.call_at(due, self._look)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what waited for it."""
        self._transport = cast("asyncio.Transport", transport)
        if self.closed:
            self._transport.abort()
            return
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._unsent:
            self._transport.write(b"".join(self._unsent))
            self._unsent.clear()

    def data_received(self, data: bytes) -> None:
        """Hand out the answers that are complete now."""
        try:
            answers = [self._read(frame) for frame in self._reader.feed(data)]
        except (FrameError, MeaninglessError, *UNREADABLE) as e:
            log.warning("closed the connection to %s: %s", self._name, e)
            self.close()
            return
        for asked, answer in answers:
            asked.on_answer(answer)

    def _read(self, frame: bytes) -> tuple[_Waiting, object]:
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        waiting = self._waiting
        while waiting and waiting[0].correlation_id < correlation_id:
            waiting.popleft()
        if not waiting or waiting[0].correlation_id != correlation_id:
            raise MeaninglessError(f"an answer to request {correlation_id}, which was not asked")
        asked = waiting.popleft()
        at = skip_tags(frame, 4) if asked.how.response_header else 4
        return asked, asked.how.read_response(frame, at)

    def pause_writing(self) -> None:
        """The peer does not read: drop what there is to send."""
        self._writable = False

    def resume_writing(self) -> None:
        """It reads again."""
        self._writable = True

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self.close()

    def close(self) -> None:
        """Close it; nobody hears of the answers that did not come."""
        self.closed = True
        self._waiting.clear()
        self._unsent.clear()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if self._connecting is not None and not self._connecting.done():
            self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()


class Peers:
    """All outgoing connections of a node.

    Args:
        loop: the event loop.
        addresses: of every node.
        client_id: what this node calls itself.
        timeout_us: after this a request counts as lost; somewhat sooner than the core repeats it, so that what it repeats
            goes over a new connection.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, addresses: Mapping[int, Address], client_id: str, timeout_us: int
    ) -> None:
        """Nothing is connected yet."""
        self._loop = loop
        self._addresses = addresses
        self._client_id = client_id.encode()
        self._timeout = timeout_us * 0.9e-6
        self._connections: dict[tuple[int, str], PeerConnection] = {}

    def send(self, to: int, purpose: str, key: int, version: int, body: object, on_answer: OnAnswer) -> None:
        """Send a request to a node, on the connection for this purpose.

        Args:
            to: the node.
            purpose: ``""``, or the partition that is fetched.
            key: of the API.
            version: of the API.
            body: the entity.
            on_answer: called with the response's entity, if there is one.
        """
        connection = self._connections.get((to, purpose))
        if connection is not None and not connection.closed and connection.overdue():
            connection.close()
        if connection is None or connection.closed:
            connection = PeerConnection(self._loop, f"node {to}", self._client_id, self._timeout)
            self._connections[to, purpose] = connection
            connection.connect(self._addresses[to])
        connection.send(key, version, body, on_answer)

    def close(self) -> None:
        """Close them all."""
        for connection in self._connections.values():
            connection.close()
