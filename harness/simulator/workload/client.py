"""What producers and consumers share: finding leaders, sending requests, timing them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.harness.simulator.actors import Actor
from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.messages import MetadataRequest, MetadataResponse

if TYPE_CHECKING:
    from random import Random

    from tidemark.harness.simulator.simulation import Simulation

RETRY_US = 50_000
new_op = tuple.__new__
"""Makes an ``Op`` at half the cost of calling it."""


class Client(Actor):
    """A client process with one operation at a time."""

    __slots__ = (
        "_asked",
        "_brokers",
        "_correlation",
        "_generation",
        "_metadata_correlation",
        "_noise",
        "client_id",
        "keys",
        "leaders",
        "name",
        "simulation",
        "stopped",
    )

    def __init__(self, simulation: Simulation, client_id: int, name: str) -> None:
        """Join the simulation; ``name`` is the process name in the history and of the noise stream."""
        super().__init__()
        self.simulation = simulation
        self.client_id = client_id
        self.name = name
        self.keys = simulation.partitions()
        self.leaders: dict[str, int] = {}
        self.stopped = False
        self._noise: Random = simulation.stream(name)
        self._correlation = 0
        self._metadata_correlation = 0
        self._generation = 0
        self._brokers = simulation.brokers()
        self._asked = int(self._noise.random() * len(self._brokers))
        simulation.actors[client_id] = self

    def timer(self, name: str, delay_us: int) -> None:
        """One timer at a time: setting it cancels the one before."""
        self._generation = generation = self._generation + 1
        simulation = self.simulation
        simulation.push(simulation.now + delay_us, self, TimerFired(name, generation))

    def handle(self, now: int, event: Any) -> None:  # noqa: ANN401 - any message
        """Timers of an older generation are cancelled ones."""
        cls = type(event)
        if cls is TimerFired:
            if event.generation == self._generation:
                self.on_timer(now, event.name)
        elif cls is MetadataResponse:
            if event.correlation == self._metadata_correlation:
                self.leaders = event.leaders
                self.on_metadata(now)
        elif event.correlation == self._correlation:
            self.on_response(now, event)

    def ask_metadata(self) -> None:
        """Ask the next broker in turn who leads."""
        brokers = self._brokers
        self._asked = (self._asked + 1) % len(brokers)
        self._metadata_correlation += 1
        self.simulation.send(
            self.client_id, brokers[self._asked], MetadataRequest(self.client_id, self._metadata_correlation)
        )

    def next_correlation(self) -> int:
        """A number for the next request; responses to older ones are ignored."""
        self._correlation += 1
        return self._correlation

    def on_timer(self, now: int, name: str) -> None:
        """The timer ran out."""
        raise NotImplementedError

    def on_metadata(self, now: int) -> None:
        """Leaders are known anew."""
        raise NotImplementedError

    def on_response(self, now: int, message: Any) -> None:  # noqa: ANN401 - produce or consume response
        """The latest request was answered."""
        raise NotImplementedError
