"""A client of a stream that is used as a log: a message's offset is its sequence, less one."""

from __future__ import annotations

from typing import Any

from tidemark.harness.clients.client import Outcome
from tidemark.harness.systems.nats.connection import NatsConnection

MOST_IN_A_POLL = 200


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
