"""The clients of a simulated scenario: one producer per batch, and a consumer that reads from the start."""

from __future__ import annotations

from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.harness.scenario.simulated.simulation import ScriptedSimulation
from tidemark.harness.simulator.actors import Actor
from tidemark.nodes.core.messages import (
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER,
    OFFSET_OUT_OF_RANGE,
    REQUEST_TIMED_OUT,
    ConsumeRequest,
    ConsumeResponse,
    ProduceRequest,
    ProduceResponse,
)


class BatchProducer(Actor):
    """Sends one batch once, and is honest about what it knows of it.

    Attributes:
        state: ``sent``, ``acked``, or the error's name.
    """

    __slots__ = ("acks", "client_id", "key", "process", "simulation", "state", "values")

    def __init__(
        self, simulation: ScriptedSimulation, client_id: int, key: str, values: tuple[int, ...], acks: str
    ) -> None:
        super().__init__()
        self.simulation = simulation
        self.client_id = client_id
        self.process = f"p{client_id % 100}"
        self.key = key
        self.values = values
        self.acks = acks
        self.state = "sent"
        simulation.actors[client_id] = self

    def send(self, broker: int) -> None:
        """To this broker, whether or not it leads."""
        self._note("invoke", self._unplaced(), None)
        request = ProduceRequest(self.client_id, self.key, self.values, self.acks, 1)
        self.simulation.send(self.client_id, broker, request)
        if self.acks == "0":
            self.state = "acked"
            self._note("ok", tuple(("send", self.key, (None, value)) for value in self.values), None)

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - a produce response
        """Take the answer."""
        response: ProduceResponse = event
        if self.state != "sent":
            return
        if response.error is None:
            self.state = "acked"
            placed = enumerate(self.values, response.base_offset)
            self._note("ok", tuple(("send", self.key, (offset, value)) for offset, value in placed), None)
        else:
            self.state = response.error
            certain = response.error in (NOT_LEADER, NOT_ENOUGH_REPLICAS)
            self._note("fail" if certain else "info", self._unplaced(), response.error)

    def give_up(self) -> None:
        """No answer came: the outcome stays unknown."""
        if self.state == "sent":
            self.state = REQUEST_TIMED_OUT
            self._note("info", self._unplaced(), REQUEST_TIMED_OUT)

    def _unplaced(self) -> tuple[object, ...]:
        return tuple(("send", self.key, value) for value in self.values)

    def _note(self, kind: str, value: tuple[object, ...], error: str | None) -> None:
        self.simulation.ops.append(Op(self.simulation.now, self.process, kind, "send", value, error, self.acks))


class StartReader(Actor):
    """Reads a partition once from offset 0, or else from the log start, up to the high watermark.

    Attributes:
        seen: the values, once ``done``; `None` if the broker refused.
    """

    __slots__ = ("_at", "client_id", "done", "key", "process", "seen", "simulation")

    def __init__(self, simulation: ScriptedSimulation, client_id: int, key: str) -> None:
        super().__init__()
        self.simulation = simulation
        self.client_id = client_id
        self.process = f"c{client_id % 100}"
        self.key = key
        self.seen: tuple[int, ...] | None = None
        self.done = False
        self._at = 0
        simulation.actors[client_id] = self

    def read(self, broker: int) -> None:
        """From this broker."""
        self._note("invoke", {}, None)
        self.simulation.send(self.client_id, broker, ConsumeRequest(self.client_id, self.key, self._at, 1))

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - a consume response
        """Take the answer."""
        response: ConsumeResponse = event
        if response.error == OFFSET_OUT_OF_RANGE and response.start > self._at:
            self._at = response.start
            again = ConsumeRequest(self.client_id, self.key, self._at, 1)
            self.simulation.send(self.client_id, response.source, again)
            return
        self.done = True
        if response.error is None:
            self.seen = tuple(value for _, value in response.records)
            self._note("ok", {self.key: response.records}, None)
        else:
            self._note("fail", {}, response.error)

    def give_up(self) -> None:
        """No answer came."""
        if not self.done:
            self._note("fail", {}, REQUEST_TIMED_OUT)

    def _note(self, kind: str, answer: dict[str, list[tuple[int, int]]], error: str | None) -> None:
        self.simulation.ops.append(Op(self.simulation.now, self.process, kind, "poll", (("poll", answer),), error))
