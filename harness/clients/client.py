"""A client, in the shape of Jepsen's: opened, asked for one operation after the other, closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable


class Outcome(NamedTuple):
    """What came of an operation: ``ok``; ``fail``, if it is proven that nothing was done; ``info``, if nobody knows."""

    type: Literal["ok", "fail", "info"]
    value: Any = None
    error: str | None = None


@runtime_checkable
class Client(Protocol):
    """One process of a history: one operation at a time. What it raises proves nothing, so the operation is ``info``."""

    def open(self, address: tuple[str, int]) -> None:
        """Connect to a node; this changes nothing in the system."""

    def invoke(self, f: str, value: Any) -> Outcome:  # noqa: ANN401 - whatever the operation takes
        """Carry out one operation, such as ``send`` or ``read``, and wait for its end."""
        ...

    def close(self) -> None:
        """Disconnect."""


@runtime_checkable
class Patient(Protocol):
    """A client that can be told how long to wait for an answer: a script may hold up what it has sent.

    Attributes:
        patience_s: for what is invoked from now on.
    """

    patience_s: float


Record = Callable[[str, str, str, Any, str | None], None]
"""Writes half an operation down: process, type, f, value, error (:meth:`tidemark.harness.clients.journal.Journal.add`)."""


def invoke(client: Client, process: str, f: str, value: Any, record: Record) -> Outcome:  # noqa: ANN401
    """Have a client do one operation, and write both of its halves down."""
    record(process, "invoke", f, value, None)
    try:
        outcome = client.invoke(f, value)
    except Exception as error:  # noqa: BLE001 - it may have been carried out, whatever went wrong
        outcome = Outcome("info", error=f"{type(error).__name__}: {error}")
    told = value if outcome.type != "ok" or outcome.value is None else outcome.value
    record(process, outcome.type, f, told, outcome.error)
    return outcome
