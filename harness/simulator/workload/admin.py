"""A client that deletes records (``AdminClient.deleteRecords``, KIP-107)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.checkers.history.history import Op
from tidemark.harness.simulator.actors import Actor
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.messages import (
    OFFSET_OUT_OF_RANGE,
    REQUEST_TIMED_OUT,
    UNSUPPORTED_VERSION,
    DeleteRecordsRequest,
)

if TYPE_CHECKING:
    from tidemark.harness.simulator.simulation import Simulation

REFUSALS = frozenset({OFFSET_OUT_OF_RANGE, UNSUPPORTED_VERSION})
"""Errors that prove that nothing was deleted."""


class AdminClient(Actor):
    """Each request is a process of its own in the history, ``d1``, ``d2`` …, and is sent once."""

    __slots__ = ("_count", "_ended", "_open", "client_id", "simulation")

    def __init__(self, simulation: Simulation, client_id: int) -> None:
        super().__init__()
        self.simulation = simulation
        self.client_id = client_id
        self._count = 0
        self._open: dict[int, tuple[str, int]] = {}
        self._ended: dict[int, str] = {}
        simulation.actors[client_id] = self

    def delete(self, key: str, offset: int, leader: int) -> int:
        """Ask a broker to delete the records of ``key`` below ``offset``; gives the request's number."""
        self._count += 1
        self._open[self._count] = (key, offset)
        self._note(self._count, "invoke", key, offset, None)
        simulation = self.simulation
        timeout = simulation.cluster.settings.produce_timeout_us
        simulation.push(simulation.now + timeout, self, TimerFired("delete", self._count))
        simulation.send(self.client_id, leader, DeleteRecordsRequest(self.client_id, key, offset, self._count))
        return self._count

    def ended(self, number: int) -> str:
        """How a request ended: ``ok`` or the error's name; empty if it has not."""
        return self._ended.get(number, "")

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - a response, or the end of its time
        """An answer, or the end of its time."""
        timed_out = type(event) is TimerFired
        number = event.generation if timed_out else event.correlation
        asked = self._open.pop(number, None)
        if asked is not None:
            error = REQUEST_TIMED_OUT if timed_out else event.error
            kind = "ok" if error is None else "fail" if error in REFUSALS else "info"
            self._ended[number] = error or "ok"
            self._note(number, kind, *asked, error)

    def give_up(self) -> None:
        """No answer comes any more: the outcomes stay unknown."""
        for number, asked in self._open.items():
            self._note(number, "info", *asked, REQUEST_TIMED_OUT)
        self._open.clear()

    def _note(self, number: int, kind: str, key: str, offset: int, error: str | None) -> None:
        value = (("delete", key, offset),)
        self.simulation.ops.append(Op(self.simulation.now, f"d{number}", kind, "delete", value, error))
