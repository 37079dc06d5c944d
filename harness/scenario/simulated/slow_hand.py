"""What happens to real processes, happening to a simulated script: commands take effect late, messages take different times,
brokers start one after the other, and slowly. A script that depends on none of that comes out as in the best of worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.simulated.target import SimulatedTarget
from tidemark.harness.scenario.target import PATIENCE_US, ScriptError
from tidemark.nodes.core.events import Started
from tidemark.nodes.core.messages import LeaderAndIsr
from tidemark.nodes.core.variant import Variant

COMMANDS = (
    "send",
    "read",
    "end_process",
    "pause",
    "resume",
    "elect",
    "reassign",
    "block",
    "unblock",
    "hold",
    "release",
)
QUICKEST_US = 200
METADATA_WAIT_US = 500_000
"""So long a fetch of metadata waits at the controller (``KafkaRaftClient.MAX_FETCH_WAIT_MS``)."""
NEXT_FETCH_US = 20_000
"""From one answer about metadata to the next, about."""


class SlowHand(SimulatedTarget):
    """Looks and acts at some moment, not at the right one.

    Attributes:
        reaction_us: how long a hand takes, about.
        message_us: how long a message takes in the mean.
        uneven: on every other way from one node to another, drawn by the seed, messages take so many times as long.
        start_us: how long a broker takes to start, about.
        seed: of the draws, beside the script's and the variant's names.
    """

    reaction_us = 40_000
    message_us = 2_000
    uneven = 1
    start_us = 1_000_000
    seed = ""

    def __init__(self, scenario: Scenario, variant: Variant) -> None:
        super().__init__(scenario, variant)
        self._noise = Random(f"{scenario.name} {variant.name} {self.reaction_us}{self.seed}")
        self._last: dict[tuple[int, int], int] = {}
        self._means: dict[tuple[int, int], int] = {}
        self._news_of_leaders: dict[int, list[tuple[int, LeaderAndIsr]]] = {}
        """Broker → what it is told of leaders, and when."""
        self._sleeps_since: dict[int, int] = {}
        """Broker → since when."""
        self.simulation.send = self._deliver  # type: ignore[method-assign]
        for command in COMMANDS:
            setattr(self, command, self._late(getattr(self, command)))

    def _late(self, command: Callable[..., object]) -> Callable[..., object]:
        def act(*arguments: object) -> object:
            self._dawdle(0.2, 1)
            return command(*arguments)

        return act

    def _dawdle(self, least: float, most: float, unit_us: int | None = None) -> None:
        self.simulation.run_until(
            self.simulation.now + int(self._noise.uniform(least, most) * (unit_us or self.reaction_us))
        )

    def _deliver(self, source: int, to: int, message: object) -> None:
        """A connection keeps its order; two connections do not."""
        simulation = self.simulation
        simulation.listen(source, to, message)
        if simulation.stops(source, to, message):
            return
        at = simulation.now + QUICKEST_US + int(self._noise.expovariate(1 / self._mean(source, to)))
        self._last[source, to] = at = max(at, self._last.get((source, to), 0) + 1)
        if isinstance(message, LeaderAndIsr):
            self._news_of_leaders.setdefault(to, []).append((at, message))
        simulation.push(at, simulation.actors[to], message)

    def _mean(self, source: int, to: int) -> int:
        if self.uneven == 1:
            return self.message_us
        if (source, to) not in self._means:
            self._means[source, to] = self.message_us * self._noise.choice((1, self.uneven))
        return self._means[source, to]

    def pause(self, broker: int) -> None:
        super().pause(broker)
        now = self.simulation.now
        self._sleeps_since.setdefault(broker, now)
        self._news_of_leaders[broker] = [one for one in self._news_of_leaders.get(broker, ()) if one[0] >= now]

    def resume(self, broker: int) -> None:
        """With KRaft a fetch of metadata waits at the controller when a broker falls asleep. If something is decided before it has
        waited enough, that is the answer, and the broker hears of it alone; of what came later it hears by its next fetch.
        """
        simulation, node = self.simulation, self.simulation.nodes[broker]
        answered_by = self._sleeps_since.pop(broker, simulation.now) + METADATA_WAIT_US
        told = self._news_of_leaders.pop(broker, [])
        alone = getattr(self.variant, "metadata_log", False) and bool(told) and told[0][0] <= answered_by
        later = [message for _, message in told[1:]] if alone else []
        node.port.backlog[:] = [event for event in node.port.backlog if not any(event is one for one in later)]
        super().resume(broker)
        for message in later:
            simulation.push(simulation.now + NEXT_FETCH_US, node, message)

    def boot(self) -> None:
        """Start the brokers one after the other."""
        self.simulation.push(0, self.simulation.nodes[0], Started())
        for broker in self.simulation.brokers():
            self._dawdle(0, 0.1, self.start_us)
            self.simulation.start(broker)
        self.wait("all know the first leader", lambda: all(self.glance(b).epoch >= 0 for b in self.replicas()))

    def start(self, broker: int) -> None:
        """Slowly."""
        self._dawdle(0.3, 1.5, self.start_us)
        super().start(broker)

    def wait(self, what: str, condition: Callable[[], bool], within_us: int = PATIENCE_US) -> None:
        """Look now and then."""
        deadline = self.simulation.now + within_us
        while not condition():
            if self.simulation.now > deadline:
                raise ScriptError(f"waited until {what}; {self.standing()}")
            self._dawdle(0.2, 1)
        self._dawdle(0.2, 1)
