"""The admin port of a node process: JSON objects, one a line, over an SSH channel or any other stream.

A request is ``{"id": 7, "do": "status", …}``, its answer ``{"id": 7, "ok": true, …}`` or ``{"id": 7, "error": "sentence"}``.
After ``watch`` the node also sends ``{"trace": [time, node, event, …]}`` for every event of the kinds asked for.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.harness.machines.errors import NodeError, NodeSilent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ANSWER_S = 5.0
_CHUNK = 1 << 16

AdminReply = dict[str, Any]


class Stream(Protocol):
    """A connection: a socket, or one of paramiko's channels."""

    def recv(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send them all."""
        ...

    def shutdown(self, how: int, /) -> None:
        """2: end both directions, which also wakes whoever waits in :meth:`recv`."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class AdminChannel:
    """A connection to one node's admin port, made when first needed and made again after the node was restarted.

    Requests may come from several threads; answers are told apart by their number. What :meth:`watch` asked for is asked again
    on every new connection.

    Args:
        connect: opens a stream to the port.
        name: what errors call the node.
        on_lost: called, in the reader's thread, when the node ends the connection (and not when :meth:`close` does).
    """

    def __init__(self, connect: Callable[[], Stream], name: str, on_lost: Callable[[], None] | None = None) -> None:
        self._connect = connect
        self._name = name
        self._on_lost = on_lost
        self._lock = threading.RLock()
        self._stream: Stream | None = None
        self._reader: threading.Thread | None = None
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Stream, Future[AdminReply]]] = {}
        self._watched: tuple[list[str], Callable[[list[Any]], None]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that the node has not ended."""
        return self._stream is not None

    def open(self) -> None:
        """Connect, unless there is a connection.

        Raises:
            NodeError: nobody listens, or the node cannot be reached.
        """
        with self._lock:
            if self._stream is not None:
                return
            try:
                stream = self._connect()
            except OSError as error:
                raise NodeError(f"{self._name}: no connection to its admin port: {error}") from None
            self._stream = stream
            name = f"admin channel of {self._name}"
            self._reader = threading.Thread(target=self._read, args=(stream,), name=name, daemon=True)
            self._reader.start()
            if self._watched is not None:
                self.post("watch", events=self._watched[0])

    def close(self) -> None:
        """End the connection; ``on_lost`` is not called. The next request makes a new one."""
        with self._lock:
            stream, self._stream = self._stream, None
            reader, self._reader = self._reader, None
        if stream is not None:
            _hang_up(stream)
        if reader is not None and reader is not threading.current_thread():
            reader.join(ANSWER_S)

    def ask(self, do: str, *, timeout_s: float = ANSWER_S, **fields: object) -> AdminReply:
        """Send a request and wait for its answer.

        Raises:
            NodeSilent: the node hung up, or did not answer in time (as a paused one does not). NodeError: it refused, or there is
                no connection.
        """
        return self.wait(self.post(do, **fields), do, timeout_s)

    def post(self, do: str, **fields: object) -> Future[AdminReply]:
        """Send a request without waiting; :meth:`wait` gives its answer.

        Raises:
            NodeError: no connection.
        """
        future: Future[AdminReply] = Future()
        with self._lock:
            self.open()
            stream = self._stream
            assert stream is not None  # noqa: S101 - open() made it
            number = next(self._numbers)
            self._waiting[number] = (stream, future)
            line = json.dumps({"id": number, "do": do, **fields}, separators=(",", ":"))
            try:
                stream.sendall(line.encode() + b"\n")
            except OSError:
                self._waiting.pop(number, None)
                raise NodeError(f"{self._name} hung up before '{do}' was sent") from None
        return future

    def wait(self, future: Future[AdminReply], do: str, timeout_s: float = ANSWER_S) -> AdminReply:
        """The answer to a request that was posted.

        Raises:
            NodeError: as :meth:`ask`.
        """
        try:
            answer = future.result(timeout_s)
        except TimeoutError:
            raise NodeSilent(f"{self._name} did not answer '{do}' within {timeout_s:g} s") from None
        if "error" in answer:
            raise NodeError(f"{self._name} refused '{do}': {answer['error']}")
        return answer

    def watch(self, events: Iterable[str], callback: Callable[[list[Any]], None]) -> None:
        """From now on hand over every trace event of these kinds, in the reader's thread.

        Raises:
            NodeError: as :meth:`ask`.
        """
        with self._lock:
            self.open()
            wanted = sorted(events)
            self._watched = (wanted, callback)
            asked = self.post("watch", events=wanted)
        self.wait(asked, "watch")

    def watch_later(self, events: Iterable[str], callback: Callable[[list[Any]], None]) -> None:
        """The same for the connections to come; the one there is now, if any, is left as it is."""
        with self._lock:
            self._watched = (sorted(events), callback)

    # The reader's thread

    def _read(self, stream: Stream) -> None:
        rest = b""
        while data := _receive(stream):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(line)
        with self._lock:
            lost = self._stream is stream
            if lost:
                self._stream = self._reader = None
            left = [number for number, (asked_on, _) in self._waiting.items() if asked_on is stream]
            futures = [self._waiting.pop(number)[1] for number in left]
        for future in futures:
            future.set_exception(NodeSilent(f"{self._name} hung up before it answered"))
        if lost:
            _hang_up(stream)
            if self._on_lost is not None:
                self._on_lost()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if "trace" in message:
            watched = self._watched
            if watched is not None:
                watched[1](message["trace"])
            return
        with self._lock:
            _, future = self._waiting.pop(message.get("id"), (None, None))
        if future is not None:
            future.set_result(message)


def _receive(stream: Stream) -> bytes:
    try:
        return stream.recv(_CHUNK)
    except OSError:
        return b""


def _hang_up(stream: Stream) -> None:
    with suppress(OSError, EOFError):
        stream.shutdown(2)
    with suppress(OSError, EOFError):
        stream.close()
