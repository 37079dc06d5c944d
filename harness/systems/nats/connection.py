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


class Delivered(NamedTuple):
    """A message that the server sends: to which of our subscriptions, under which subject, and where an answer to it goes."""

    subject: str
    subscription: str
    reply: str
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
            self._send(f"CONNECT {json.dumps(options)}\r\nSUB {self._inbox}.* inbox\r\nPING\r\n".encode())
            deadline = time.monotonic() + patience_s
            while self._said(deadline) != "PONG":
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

    def take(self, stream: str, consumer: str) -> Delivered | None:
        """Have a consumer deliver a message, which is delivered to somebody else later unless it is confirmed; None if none waits.

        Raises:
            NatsError, OSError: there is no answer; a message that is on its way nevertheless is somebody else's later.
        """
        number = str(
            next(self._numbers)
        )  # of a subscription of its own, so that a late answer to another request is not taken
        inbox = f"{self._inbox}.taken.{number}"
        listening = f"SUB {inbox} {number}\r\nUNSUB {number} 1\r\n".encode()
        asking = _published(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}", inbox, b'{"batch": 1, "no_wait": true}')
        self._send(listening + asking)
        deadline = time.monotonic() + self._patience_s
        try:
            while (said := self._next(deadline)).subscription != number:
                pass
        except NatsError as error:
            if error.code == NO_MESSAGE:
                return None
            raise
        return said

    def confirm(self, delivered: Delivered) -> None:
        """Acknowledge a message, and wait until the server acknowledges that.

        Raises:
            NatsError, OSError: there is no answer; it may have heard.
        """
        self._request(delivered.reply, b"+ACK")

    def _asked(self, subject: str, payload: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._request(subject, payload).payload)
        if error := answer.get("error"):
            raise NatsError(
                f"{error.get('description', 'no description')} ({error.get('err_code')})", error.get("code", 0)
            )
        return answer

    # The protocol

    def _request(self, subject: str, payload: bytes) -> Delivered:
        inbox = f"{self._inbox}.{next(self._numbers)}"
        self._send(_published(subject, inbox, payload))
        deadline = time.monotonic() + self._patience_s
        while (said := self._next(deadline)).subject != inbox:
            pass
        return said

    def _next(self, deadline: float) -> Delivered:
        """The next message that the server sends."""
        while isinstance(said := self._said(deadline), str):
            pass
        return said

    def _said(self, deadline: float) -> str | Delivered:
        """The next thing the server says: a word, or a message."""
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
            return self._delivered(rest.split(), headers=word == "HMSG")
        return word

    def _delivered(self, fields: list[str], *, headers: bool) -> Delivered:
        sizes = 1 + headers
        subject, subscription, reply = [*fields[:-sizes], ""][:3]
        content = self._bytes(int(fields[-1]))
        header = int(fields[-2]) if headers else 0
        status = content[:header].split(b"\r\n")[0].split(maxsplit=2)
        if len(status) > 1:
            told = status[2].decode() if len(status) > 2 else "no responders"
            raise NatsError(f"{told} ({status[1].decode()})", int(status[1]))
        return Delivered(subject, subscription, reply, content[header:])

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


def _published(subject: str, reply: str, payload: bytes) -> bytes:
    return f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n"
