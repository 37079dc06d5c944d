"""The listening side of a node: connections, the requests on them, and their responses in order.

Requests are handled as they arrive, many at a time, but their responses leave a connection in the order of its requests, as
Kafka's clients expect. Whatever cannot be read ends the connection it came on, and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from struct import Struct
from typing import Any, TypeAlias, cast

from kio.schema.api_versions.v0.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.static.primitive import i16

from tidemark.nodes.formats.wire.codec import API_VERSIONS, UNREADABLE, codec
from tidemark.nodes.formats.wire.frames import MAX_REQUEST_BYTES, FrameError, FrameReader, response_frame
from tidemark.nodes.formats.wire.shape import skip_tags

log = logging.getLogger(__name__)

MAX_UNANSWERED = 256
"""Requests of one connection that may wait for their response; with more, the connection is not read."""

WRITE_BUFFER_BYTES = 4 << 20
"""With more than this unsent, a connection is not read, so its client cannot ask for more."""

_BACKLOG = 128
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
"""A connection whose other side vanished without a word is noticed after half a minute."""

_HEADER = Struct(">hhih")


class Request:
    """One request. It is answered once, with :meth:`reply` or :meth:`no_reply`, now or later.

    Attributes:
        body: kio's entity (:class:`~tidemark.nodes.formats.wire.leader_and_isr.LeaderAndIsrRequest` for that API).
        answered: whether it was answered already.
    """

    __slots__ = ("_frame", "answered", "api_key", "api_version", "body", "client_id", "connection", "correlation_id")

    def __init__(self, connection: Connection, key: int, version: int, correlation_id: int, client_id: str) -> None:
        self.connection = connection
        self.api_key = key
        self.api_version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.body: Any = None
        self.answered = False
        self._frame = b""

    def reply(self, entity: object) -> None:
        """Answer with the response entity of the request's own version. On a closed connection nothing happens.

        Raises:
            RuntimeError: it was answered before.
        """
        how = codec(self.api_key, self.api_version)
        self._answer(response_frame(self.correlation_id, how.response_header, how.write_response, entity))

    def no_reply(self) -> None:
        """Send no response (acks=0; a lost response), and let those of later requests go.

        Raises:
            RuntimeError: it was answered before.
        """
        self._answer(b"")

    def refuse_version(self, supported: tuple[int, int]) -> None:
        """ApiVersions in a version that nobody here knows: version 0 of its response, with error 35 (KIP-511)."""
        low, high = supported
        body = ApiVersionsResponse(
            error_code=ErrorCode.unsupported_version,
            api_keys=(ApiVersion(api_key=i16(API_VERSIONS), min_version=i16(low), max_version=i16(high)),),
        )
        self._answer(response_frame(self.correlation_id, 0, codec(API_VERSIONS, 0).write_response, body))

    def _answer(self, frame: bytes) -> None:
        if self.answered:
            raise RuntimeError(f"request {self.correlation_id} of API {self.api_key} was answered twice")
        self.answered = True
        self._frame = frame
        self.connection.send_answered()

    def take_frame(self) -> bytes:
        """The response, for the connection to send."""
        frame, self._frame = self._frame, b""
        return frame


Handler: TypeAlias = Callable[[Request], None]


class Connection(asyncio.Protocol):
    """One client or peer on a listener.

    Attributes:
        number: from 1000 on, never used twice in a process.
        listener: ``"internal"`` or ``"host"``.
        peer: address for people.
        closed: nothing is read or sent any more.
        muted: while it is true, no response is sent; they are dropped (a fault, see transport_faults).
    """

    def __init__(self, listener: Listener, number: int) -> None:
        self.number = number
        self.listener = listener.name
        self.peer = ""
        self.closed = False
        self.muted = False
        self._listener = listener
        self._reader = FrameReader(listener.max_request_bytes)
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[Request] = deque()
        self._frames: deque[bytes] = deque()
        self._taking = False
        self._reading = True
        self._writable = True

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        its_socket = transport.get_extra_info("socket")
        its_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        its_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE:
            its_socket.setsockopt(socket.IPPROTO_TCP, option, value)
        peer = transport.get_extra_info("peername")
        self.peer = f"{peer[0]}:{peer[1]}" if peer else "?"
        self._listener.connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Handle the requests that are complete now."""
        if self.closed:
            return
        try:
            self._frames.extend(self._reader.feed(data))
        except FrameError as e:
            self.refuse(str(e))
            return
        self._take_frames()

    def pause_writing(self) -> None:
        """The other side does not read: take no more requests."""
        self._writable = False
        self._read_or_not()

    def resume_writing(self) -> None:
        """It reads again."""
        self._writable = True
        self._take_frames()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end; requests that wait may still be answered, to no effect."""
        self._forget()

    # Requests

    def _take_frames(self) -> None:
        if self._taking:
            return
        self._taking = True
        frames = self._frames
        try:
            while frames and self._writable and not self.closed and len(self._waiting) < MAX_UNANSWERED:
                self._take(frames.popleft())
        finally:
            self._taking = False
        self._read_or_not()

    def _take(self, frame: bytes) -> None:
        if len(frame) < 10:
            self.refuse(f"a request of {len(frame)} bytes is too short to have a header")
            return
        key, version, correlation_id, id_size = _HEADER.unpack_from(frame)
        at = 10 + max(id_size, 0)
        if id_size < -1 or at > len(frame):
            self.refuse(f"a request of API {key} has no whole header")
            return
        request = Request(self, key, version, correlation_id, frame[10:at].decode(errors="replace"))
        supported = self._listener.allowed.get(key)
        if supported is None or not supported[0] <= version <= supported[1]:
            if key != API_VERSIONS or supported is None:
                self.refuse(f"API {key} in version {version} is not served on the {self.listener} listener")
                return
            self._waiting.append(request)
            request.refuse_version(supported)
            return
        how = codec(key, version)
        try:
            request.body = how.read_request(frame, skip_tags(frame, at) if how.flexible_request else at)
        except UNREADABLE as e:
            self.refuse(f"a request of API {key} in version {version} cannot be read: {e}")
            return
        self._waiting.append(request)
        self._listener.handlers[key](request)

    def send_answered(self) -> None:
        """Send the responses whose turn has come. For :class:`Request`."""
        waiting, transport = self._waiting, self._transport
        while waiting and waiting[0].answered:
            frame = waiting.popleft().take_frame()
            if frame and transport is not None and not self.closed and not self.muted:
                transport.write(frame)
        if self._frames or not self._reading:
            self._take_frames()

    def _read_or_not(self) -> None:
        wanted = self._writable and not self._frames and len(self._waiting) < MAX_UNANSWERED
        if self._transport is None or self.closed or wanted == self._reading:
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # The end

    def refuse(self, why: str) -> None:
        """Close it for what came on it, and say so in the log."""
        log.warning("closed a connection from %s: %s", self.peer, why)
        self.close()

    def close(self) -> None:
        """Close it; responses that were written already still leave, unless nobody reads them."""
        transport = self._transport
        self._forget()
        if transport is not None:
            if self._writable:
                transport.close()
            else:
                transport.abort()

    def _forget(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._transport = None
        self._frames.clear()
        self._waiting.clear()
        self._listener.connections.discard(self)
        self._listener.on_closed(self)


class Listener:
    """A listening socket and its connections.

    Args:
        name: ``"internal"`` or ``"host"``.
        allowed: API key → lowest and highest version that is served; everything else closes the connection.
        handlers: API key → who takes the request. It must have every key of ``allowed``.
        numbers: gives connections their numbers; listeners of one process share it.
        on_closed: told of every connection that ended, from either side.
        max_request_bytes: longest request.
    """

    def __init__(
        self,
        name: str,
        allowed: Mapping[int, tuple[int, int]],
        handlers: Mapping[int, Handler],
        numbers: Iterator[int],
        on_closed: Callable[[Connection], None] = lambda _: None,
        max_request_bytes: int = MAX_REQUEST_BYTES,
    ) -> None:
        self.name = name
        self.allowed = allowed
        self.handlers = handlers
        self.on_closed = on_closed
        self.max_request_bytes = max_request_bytes
        self.connections: set[Connection] = set()
        self._numbers = numbers
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen; returns the address that was bound (port 0: the system chooses).

        Raises:
            OSError: the address cannot be had.
        """
        return await self.start_on(socket.create_server((host, port)))

    async def start_on(self, bound: socket.socket) -> tuple[str, int]:
        """Listen on a socket that is bound already; returns its address.

        Raises:
            OSError: another process listens there.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self, next(self._numbers)), sock=bound, backlog=_BACKLOG
        )
        address = bound.getsockname()
        return address[0], address[1]

    def close(self) -> None:
        """Stop listening and close every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self.connections):
            connection.close()
