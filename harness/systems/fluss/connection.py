"""A connection to a Fluss server: frames of its RPC (``org.apache.fluss.rpc.protocol.MessageCodec``, 0.9.1)."""

from __future__ import annotations

import socket
import struct
import time
from itertools import count
from typing import TYPE_CHECKING, Protocol

from tidemark.harness.systems.fluss.fields import encode, number, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.harness.systems.fluss.fields import Field

PATIENCE_S = 2.0
API_VERSIONS = 1000
_REQUEST = struct.Struct(">ihhi")
_LENGTH = struct.Struct(">i")
_ANSWERED, _REFUSED = 0, 1


class FlussError(Exception):
    """The server refused; what that proves is for whoever asked to say.

    Attributes:
        code: as ``org.apache.fluss.rpc.protocol.Errors`` has it.
    """

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"{words or 'no words'} (error {code})")
        self.code = code


class Stream(Protocol):
    """As much of a socket as is needed; a channel of SSH has that, too."""

    def settimeout(self, value: float | None, /) -> None:
        """For what follows."""

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""

    def recv(self, most: int, /) -> bytes:
        """What has come; nothing when the other side has hung up."""

    def close(self) -> None:
        """Hang up."""


def connected(address: tuple[str, int], patience_s: float = PATIENCE_S) -> FlussConnection:
    """A connection to a host and port.

    Raises:
        OSError: nobody answers there. FlussError: who answers refuses.
    """
    stream = socket.create_connection(address, patience_s)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return FlussConnection(stream, patience_s)


class FlussConnection:
    """One connection, on which one thing is asked at a time. A server that answers has been found when it is made.

    Args:
        stream: to a server; it is closed with the connection. patience_s: for each answer that has no time of its own.

    Raises:
        OSError: nobody answers there. FlussError: who answers refuses.
    """

    def __init__(self, stream: Stream, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._numbers = count(1)
        self._socket = stream
        try:
            self.ask(API_VERSIONS, [(1, b"tidemark"), (2, b"1")])
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def ask(self, api: int, fields: Iterable[Field], patience_s: float | None = None) -> bytes:
        """A request, version 0; the message that answers it.

        Raises:
            FlussError: it was refused. OSError: there is no answer.
        """
        deadline = time.monotonic() + (self._patience_s if patience_s is None else patience_s)
        asked, body = next(self._numbers), encode(fields)
        self._socket.settimeout(self._patience_s)
        self._socket.sendall(_REQUEST.pack(_REQUEST.size - _LENGTH.size + len(body), api, 0, asked) + body)
        while True:
            answer = self._read(_LENGTH.unpack(self._read(_LENGTH.size, deadline))[0], deadline)
            if answer[0] == _ANSWERED and _LENGTH.unpack_from(answer, 1)[0] == asked:
                return answer[1 + _LENGTH.size :]
            if answer[0] != _ANSWERED:
                error = answer[1 + _LENGTH.size :] if answer[0] == _REFUSED else answer[1:]
                words = b"".join(texts(error, 2)).decode(errors="replace")
                raise FlussError(number(error, 1), words.splitlines()[0] if words else "")

    def _read(self, length: int, deadline: float) -> bytes:
        found = b""
        while len(found) < length:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no answer in time")
            self._socket.settimeout(left)
            more = self._socket.recv(length - len(found))
            if not more:
                raise ConnectionError("the server hung up")
            found += more
        return found
