"""Clients of a stream that is used as a log, where a message's offset is its sequence, less one, or as a queue."""

from __future__ import annotations

import time
from typing import Any

from tidemark.harness.clients.client import Outcome
from tidemark.harness.systems.nats.connection import PATIENCE_S, Delivered, NatsConnection, NatsError

MOST_IN_A_POLL = 200
CONSUMER = "q"
"""The durable consumer that all clients of a queue share."""
ACK_WAIT_S = 2 * PATIENCE_S + 1
"""A message that is not confirmed for so long is delivered again."""


def value_of(payload: bytes) -> int | str:
    r"""The value in a message; of one that no client of ours has sent, its text: whoever is given that was given something wrong.

    >>> value_of(b"1000007"), value_of(b"10\xb00007")
    (1000007, '10\\xb00007')
    """
    return int(payload) if payload.isdigit() else payload.decode("ascii", "backslashreplace")


class NatsClient:
    """Sends and polls. Whatever goes wrong is raised, and so proves nothing: that no stream responds, or that there is no answer in
    time, does not tell whether the message was stored.
    """

    def __init__(self) -> None:
        self._connection: NatsConnection | None = None

    def open(self, address: tuple[str, int]) -> None:
        self._connection = NatsConnection(address)

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - as `Client` has it
        """``send`` of (log, value): its offset. ``poll`` of (log, position): (offset, value) of up to 200 from there on."""
        assert self._connection is not None  # noqa: S101 - it was opened
        log, what = value
        if f == "send":
            return Outcome("ok", self._connection.publish(log, str(what).encode()) - 1)
        found: list[tuple[int, int | str]] = []
        position = int(what)
        while len(found) < MOST_IN_A_POLL and (stored := self._connection.message(log, position + 1)) is not None:
            found.append((stored.sequence - 1, value_of(stored.payload)))
            position = stored.sequence
        return Outcome("ok", found)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class NatsQueue(NatsClient):
    """Enqueues, and dequeues: a message is taken, and counts as taken once the server has confirmed its acknowledgement.

    Until the acknowledgement is sent nothing has changed: who takes a message and does not acknowledge it, does not have it.

    Args:
        stream: what the queue is called.
    """

    def __init__(self, stream: str) -> None:
        super().__init__()
        self._stream = stream

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - as `Client` has it
        """``enqueue`` of an element. ``dequeue`` of None: an element; None if the stream has none, whoever holds it."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - it was opened
        if f == "enqueue":
            connection.publish(self._stream, str(value).encode())
            return Outcome("ok")
        since = time.monotonic()
        try:
            taken = connection.take(self._stream, CONSUMER)
            if taken is None:
                return self._none(connection)
        except (NatsError, OSError) as error:
            return Outcome("fail", error=f"nothing was acknowledged: {type(error).__name__}: {error}")
        return self._confirmed(connection, taken, since)

    def _none(self, connection: NatsConnection) -> Outcome:
        """Others may hold what is left: it is in the stream until they acknowledge it."""
        left = connection.ask(f"STREAM.INFO.{self._stream}")["state"]["messages"]
        return Outcome("fail", error=f"{left} in the stream, and none to be had now") if left else Outcome("ok")

    @staticmethod
    def _confirmed(connection: NatsConnection, taken: Delivered, since: float) -> Outcome:
        connection.confirm(taken)
        if time.monotonic() - since >= ACK_WAIT_S:
            return Outcome("info", error=f"confirmed after {ACK_WAIT_S:g} s, when somebody else may have it, too")
        return Outcome("ok", value_of(taken.payload))
