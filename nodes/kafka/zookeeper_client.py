"""As much of a ZooKeeper client as laying out a cluster's state takes: make, read, list and delete nodes, one call at a time.

Over TCP each frame is a 32-bit length and that many bytes. A request begins with its number and an operation, an answer with the
request's number, a transaction id and an error; integers are big-endian, strings and buffers have a 32-bit length before them.
"""

from __future__ import annotations

import socket
from itertools import count
from struct import Struct, error
from typing import Self

_INT = Struct(">i")
_REQUEST = Struct(">ii")
_REPLY = Struct(">iqi")
_CONNECT = Struct(">iqiqi16s")
_CREATE, _DELETE, _GET, _CHILDREN, _CLOSE = 1, 2, 4, 8, -11
_ANYONE_MAY_ALL = _INT.pack(1) + _INT.pack(31)
_ANY_VERSION = -1
_NO_NODE, _EXISTS = -101, -110
_EVENT, _PING = -1, -2
_SESSION_MS = 10_000
_BIGGEST = 64 << 20


class ZooKeeperError(RuntimeError):
    """ZooKeeper cannot be reached, or refuses; the message says what."""


class ZooKeeperClient:
    """One session; a context manager.

    Args:
        host: of the server.
        port: its client port.
        timeout_s: for each answer.
    """

    def __init__(self, host: str, port: int, timeout_s: float = 10.0) -> None:
        """Begin the session.

        Raises:
            ZooKeeperError: nobody answers.
        """
        self._name = f"{host}:{port}"
        self._numbers = count(1)
        try:
            self._socket = socket.create_connection((host, port), timeout_s)
        except OSError as problem:
            raise self._lost(problem) from None
        try:
            self._send(_CONNECT.pack(0, 0, _SESSION_MS, 0, 16, b""))
            self._receive()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session."""
        try:
            self._send(_REQUEST.pack(next(self._numbers), _CLOSE))
        except ZooKeeperError:
            pass
        finally:
            self._socket.close()

    def create(self, path: str, data: bytes = b"") -> bool:
        """Make a node that stays; false if there is one already, which then keeps its data.

        Raises:
            ZooKeeperError: it cannot be made.
        """
        acl = _ANYONE_MAY_ALL + _text("world") + _text("anyone")
        return self._ask(_CREATE, _text(path) + _buffer(data) + acl + _INT.pack(0), fine=_EXISTS) is not None

    def delete(self, path: str) -> bool:
        """Delete a node; false if there is none.

        Raises:
            ZooKeeperError: it cannot be deleted.
        """
        return self._ask(_DELETE, _text(path) + _INT.pack(_ANY_VERSION), fine=_NO_NODE) is not None

    def get(self, path: str) -> bytes | None:
        """A node's data; None if there is no such node.

        Raises:
            ZooKeeperError: it cannot be read.
        """
        answer = self._ask(_GET, _text(path) + b"\0", fine=_NO_NODE)
        return None if answer is None else _take(answer, 0)[0]

    def children(self, path: str) -> list[str]:
        """The names of a node's children, sorted; none if there is no such node.

        Raises:
            ZooKeeperError: they cannot be listed.
        """
        answer = self._ask(_CHILDREN, _text(path) + b"\0", fine=_NO_NODE)
        names: list[str] = []
        if answer is not None:
            at = _INT.size
            for _ in range(_INT.unpack_from(answer)[0]):
                name, at = _take(answer, at)
                names.append(name.decode())
        return sorted(names)

    def _ask(self, operation: int, fields: bytes, *, fine: int) -> bytes | None:
        """What answers a request; None if it is the error that is fine."""
        number = next(self._numbers)
        self._send(_REQUEST.pack(number, operation) + fields)
        while True:
            answer = self._receive()
            try:
                xid, _, code = _REPLY.unpack_from(answer)
            except error:
                raise ZooKeeperError(f"ZooKeeper at {self._name} sent an answer that is cut off.") from None
            if xid == number:
                break
            if xid not in {_EVENT, _PING}:
                raise ZooKeeperError(f"ZooKeeper at {self._name} answered request {xid} instead of {number}.")
        if code == fine:
            return None
        if code:
            raise ZooKeeperError(f"ZooKeeper at {self._name} refused operation {operation} with error {code}.")
        return answer[_REPLY.size :]

    def _send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(_buffer(frame))
        except OSError as problem:
            raise self._lost(problem) from None

    def _receive(self) -> bytes:
        size = _INT.unpack(self._exactly(_INT.size))[0]
        if not 0 <= size <= _BIGGEST:
            raise ZooKeeperError(f"{self._name} does not answer as ZooKeeper does.")
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                part = self._socket.recv(size - len(received))
            except OSError as problem:
                raise self._lost(problem) from None
            if not part:
                raise ZooKeeperError(f"ZooKeeper at {self._name} closed the connection.")
            received += part
        return bytes(received)

    def _lost(self, problem: OSError) -> ZooKeeperError:
        return ZooKeeperError(f"ZooKeeper at {self._name} does not answer: {problem}.")


def _buffer(data: bytes) -> bytes:
    return _INT.pack(len(data)) + data


def _text(text: str) -> bytes:
    return _buffer(text.encode())


def _take(answer: bytes, at: int) -> tuple[bytes, int]:
    """A buffer, and where the next field begins."""
    begin = at + _INT.size
    end = begin + max(_INT.unpack_from(answer, at)[0], 0)
    return answer[begin:end], end
