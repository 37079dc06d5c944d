"""What happens to real processes happens to the scripts here: commands take effect late, messages take different times,
brokers start one after the other, and slowly. A script that depends on none of that comes out as in the best of worlds.
"""

from random import Random

import pytest

from harness.scenario import all_scenarios, run_scenario, variants_of
from harness.scenario.simulated import SimulatedTarget
from harness.scenario.simulated.simulation import carries
from harness.scenario.target import PATIENCE_US, ScriptError
from nodes.core.events import Started

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


class SlowStage(SimulatedTarget):
    """Looks and acts at some moment, not at the right one."""

    reaction_us = 40_000

    def __init__(self, scenario, variant):
        super().__init__(scenario, variant)
        self._noise = Random(f"{scenario.name} {variant.name} {self.reaction_us}")
        self._last = {}
        self.simulation.send = self._deliver
        for command in COMMANDS:
            setattr(self, command, self._late(getattr(self, command)))

    def _late(self, command):
        def act(*arguments):
            self._dawdle(0.2, 1)
            return command(*arguments)

        return act

    def _dawdle(self, least, most, unit_us=None):
        self.simulation.run_until(
            self.simulation.now + int(self._noise.uniform(least, most) * (unit_us or self.reaction_us))
        )

    def _deliver(self, source, to, message):
        """A connection keeps its order; two connections do not."""
        simulation = self.simulation
        simulation._listen(source, to, message)
        if any(carries(link, source, to, message) for link in simulation._cut):
            return
        for held in simulation._held:
            if carries(held.link, source, to, message):
                held.kept.append((source, to, message))
                return
        at = simulation.now + 200 + int(self._noise.expovariate(1 / 2_000))
        self._last[source, to] = at = max(at, self._last.get((source, to), 0) + 1)
        simulation.push(at, simulation.actors[to], message)

    def boot(self):
        self.simulation.push(0, self.simulation.nodes[0], Started())
        for broker in self.simulation.brokers():
            self._dawdle(0, 0.1, 1_000_000)
            self.simulation.start(broker)
        self.wait("all know the first leader", lambda: all(self.glance(b).epoch >= 0 for b in self.replicas()))

    def start(self, broker):
        self._dawdle(0.3, 1.5, 1_000_000)
        super().start(broker)

    def wait(self, what, condition, within_us=PATIENCE_US):
        deadline = self.simulation.now + within_us
        while not condition():
            if self.simulation.now > deadline:
                raise ScriptError(f"waited until {what}; {self.standing()}")
            self._dawdle(0.2, 1)
        self._dawdle(0.2, 1)


PAIRS = [(scenario, variant) for scenario in all_scenarios() for variant in variants_of(scenario)]


@pytest.mark.parametrize("reaction_ms", [pytest.param(10, marks=pytest.mark.slow), 60, 300])
@pytest.mark.parametrize(("scenario", "variant"), PAIRS, ids=lambda value: getattr(value, "name", value))
def test_a_script_does_not_depend_on_exact_moments(scenario, variant, reaction_ms, monkeypatch):
    monkeypatch.setattr(SlowStage, "reaction_us", reaction_ms * 1_000)

    assert run_scenario(scenario, variant, SlowStage).mismatches == []
