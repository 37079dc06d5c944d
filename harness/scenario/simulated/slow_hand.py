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


class SlowHand(SimulatedTarget):
    """Looks and acts at some moment, not at the right one.

    Attributes:
        reaction_us: how long a hand takes, about.
        message_us: how long a message takes in the mean.
        start_us: how long a broker takes to start, about.
        seed: of the draws, beside the script's and the variant's names.
    """

    reaction_us = 40_000
    message_us = 2_000
    start_us = 1_000_000
    seed = ""

    def __init__(self, scenario: Scenario, variant: Variant) -> None:
        super().__init__(scenario, variant)
        self._noise = Random(f"{scenario.name} {variant.name} {self.reaction_us}{self.seed}")
        self._last: dict[tuple[int, int], int] = {}
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
        at = simulation.now + QUICKEST_US + int(self._noise.expovariate(1 / self.message_us))
        self._last[source, to] = at = max(at, self._last.get((source, to), 0) + 1)
        simulation.push(at, simulation.actors[to], message)

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
