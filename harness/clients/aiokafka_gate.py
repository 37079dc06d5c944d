"""aiokafka's produce requests, counted, and held to what an honest producer may do.

aiokafka has no ``retries``: without idempotence it repeats a request that may have been written, which makes duplicates of its own,
and with idempotence it repeats for ever. The gate stands before the client's ``send``, counts the tries of an operation, turns an
error that must not be followed by another try into one that aiokafka gives up at, and lets nothing out after the deadline.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from aiokafka.client import ConnectionGroup  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    BrokerResponseError,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    RequestTimedOutError,
)
from aiokafka.protocol.produce import ProduceRequest  # type: ignore[import-untyped]

from tidemark.harness.clients.error_names import error_name
from tidemark.harness.clients.outcomes import TIMED_OUT, TRANSPORT, refuses

NEVER = float("-inf")


class GivenUpError(KafkaError):  # type: ignore[misc]
    """An error after which there must be no other try; `name` is its name in the history."""

    retriable = False

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Client(Protocol):
    """What the gate needs of ``AIOKafkaClient``."""

    async def send(self, node_id: int, request: Any, *, group: Any = ...) -> Any:  # noqa: ANN401 - aiokafka's requests
        """Send a request and wait for the response."""


class Gate:
    """Replaces the ``send`` of one producer's client.

    Attributes:
        tries: produce requests since `open_until`.
    """

    def __init__(self, client: _Client, acks: str, *, idempotent: bool = True) -> None:
        """With acks=all and idempotence requests in doubt are repeated."""
        self._repeats = acks == "all" and idempotent
        self.tries = 0
        self._deadline = NEVER
        self._acks = acks
        self._send = client.send
        client.send = self.send  # type: ignore[method-assign]

    def open_until(self, deadline: float) -> None:
        """An operation begins; nothing of it is sent after ``deadline`` (the loop's time, seconds)."""
        self.tries = 0
        self._deadline = deadline

    def shut(self) -> None:
        """Let no produce request out any more."""
        self._deadline = NEVER

    async def send(self, node_id: int, request: Any, *, group: Any = ConnectionGroup.DEFAULT) -> Any:  # noqa: ANN401
        """In place of ``AIOKafkaClient.send``.

        Raises:
            GivenUpError: the time is up, or the error must not be followed by another try.
            KafkaError: aiokafka may try again.
        """
        if not isinstance(request, ProduceRequest):
            return await self._send(node_id, request, group=group)
        left = self._deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise GivenUpError(TIMED_OUT)
        self.tries += 1
        try:
            response = await asyncio.wait_for(self._send(node_id, request, group=group), left)
        except TimeoutError:
            raise GivenUpError(TIMED_OUT) from None
        except NodeNotReadyError:
            # There was no connection, so nothing left.
            self.tries -= 1
            raise
        except KafkaError as error:
            if self._repeats:
                raise
            raise GivenUpError(local_name(error)) from error
        if self._acks != "0" and not self._repeats:
            self._refuse_doubt(response)
        return response

    def _refuse_doubt(self, response: Any) -> None:  # noqa: ANN401 - a ProduceResponse
        for _, partitions in response.topics:
            for partition in partitions:
                code = partition[1]
                name = error_name(code, f"error {code}")
                if code and not refuses(name, self._acks):
                    raise GivenUpError(name)


def local_name(error: Exception) -> str:
    """The name of an error that aiokafka raised while it sent a request: none of them is a broker's answer."""
    if isinstance(error, GivenUpError):
        return error.name
    if isinstance(error, RequestTimedOutError):
        return TIMED_OUT
    if isinstance(error, KafkaConnectionError | NodeNotReadyError):
        return TRANSPORT
    return type(error).__name__


def batch_error_name(error: BaseException) -> str:
    """The name of the error that a batch or a poll ended with: a broker's answer, or aiokafka's own finding."""
    if isinstance(error, GivenUpError):
        return error.name
    if isinstance(error, BrokerResponseError):
        return error_name(error.errno, type(error).__name__)
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    return local_name(error) if isinstance(error, Exception) else type(error).__name__
