"""A connection to a NATS server: as much of its text protocol as asking and answering needs.

https://docs.nats.io/reference/reference-protocols/nats-protocol and `.../nats_api_reference` for JetStream's subjects.
"""

from __future__ import annotations

import base64
import json
import socket
import time
from itertools import count
from typing import Any, NamedTuple

PATIENCE_S = 3.0
NO_MESSAGE = 404


class NatsError(Exception):
    """The server, or JetStream, refused, or nobody answered; what that proves is for whoever asked to say."""

    def __init__(self, words: str, code: int = 0) -> None:
        super().__init__(words)
        self.code = code


class Stored(NamedTuple):
    """A message of a stream: its sequence, from 1, and its payload."""

    sequence: int
    payload: bytes


class NatsConnection:
    """One connection, on which one thing is asked at a time.

    Args:
        address: host and port.
        patience_s: for the connection, and for each answer.
    """

    def __init__(self, address: tuple[str, int], patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._socket = socket.create_connection(address, patience_s)
        self._buffer = b""
        self._numbers = count(1)
        self._inbox = f"_INBOX.{base64.b32encode(str(self._socket.getsockname()).encode()).decode().strip('=')}"
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "tidemark"}
        try:
            self._line()  # INFO
            self._send(f"CONNECT {json.dumps(options)}\r\nSUB {self._inbox}.* 1\r\nPING\r\n".encode())
            deadline = time.monotonic() + patience_s
            while self._next(deadline) != "PONG":
                pass
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    # What is asked

    def publish(self, subject: str, payload: bytes) -> int:
        """Have a stream store a message; its sequence.

        Raises:
            NatsError, OSError: it was not acknowledged, and may be stored or not.
        """
        return int(self._asked(subject, payload)["seq"])

    def message(self, stream: str, sequence: int) -> Stored | None:
        """The first message of a stream from a sequence on, as its leader has it; None if there is none.

        Raises:
            NatsError, OSError: there is no answer.
        """
        try:
            found = self.ask(f"STREAM.MSG.GET.{stream}", {"seq": sequence, "next_by_subj": ">"})["message"]
        except NatsError as error:
            if error.code == NO_MESSAGE:
                return None
            raise
        return Stored(int(found["seq"]), base64.b64decode(found.get("data", "")))

    def ask(self, what: str, about: object = None) -> dict[str, Any]:
        """Ask JetStream's API.

        Raises:
            NatsError, OSError: it refused, or there is no answer.
        """
        return self._asked(f"$JS.API.{what}", b"" if about is None else json.dumps(about).encode())

    def _asked(self, subject: str, payload: bytes) -> dict[str, Any]:
        inbox = f"{self._inbox}.{next(self._numbers)}"
        self._send(f"PUB {subject} {inbox} {len(payload)}\r\n".encode() + payload + b"\r\n")
        deadline = time.monotonic() + self._patience_s
        while True:
            said = self._next(deadline)
            if isinstance(said, tuple) and said[0] == inbox:
                break
        answer: dict[str, Any] = json.loads(said[1])
        if error := answer.get("error"):
            raise NatsError(
                f"{error.get('description', 'no description')} ({error.get('err_code')})", error.get("code", 0)
            )
        return answer

    # The protocol

    def _next(self, deadline: float) -> str | tuple[str, bytes]:
        """The next thing the server says: a word, or a subject and a payload."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self._socket.settimeout(left)
        word, _, rest = self._line().partition(" ")
        if word == "PING":
            self._send(b"PONG\r\n")
        elif word == "-ERR":
            raise NatsError(rest)
        elif word in ("MSG", "HMSG"):
            fields = rest.split()
            content = self._bytes(int(fields[-1]))
            if word == "MSG":
                return fields[0], content
            header = int(fields[-2])
            status = content[:header].split(b"\r\n")[0].split()
            if len(status) > 1:
                raise NatsError(f"no responders ({status[1].decode()})", int(status[1]))
            return fields[0], content[header:]
        return word

    def _send(self, data: bytes) -> None:
        self._socket.settimeout(self._patience_s)
        self._socket.sendall(data)

    def _line(self) -> str:
        while b"\r\n" not in self._buffer:
            self._read()
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        return line.decode()

    def _bytes(self, number: int) -> bytes:
        while len(self._buffer) < number + 2:
            self._read()
        found, self._buffer = self._buffer[:number], self._buffer[number + 2 :]
        return found

    def _read(self) -> None:
        found = self._socket.recv(1 << 16)
        if not found:
            raise ConnectionError("the server hung up")
        self._buffer += found
