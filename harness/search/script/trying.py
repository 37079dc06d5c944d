"""Whether a script shows what it is to show: in the best of worlds, and where hands and messages are slow.

On real processes a command takes effect some time after it was given, and messages take their time. A script that only works when
everything happens at the right moment fails there. So it is also tried with slow hands, and with slow messages and quick hands
(`tidemark.harness.scenario.simulated.slow_hand`); how many of these tries show it says what to expect of real brokers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.checkers import check
from tidemark.harness.scenario import ScenarioError, ScenarioOutcome, parse_scenario, run_scenario
from tidemark.harness.scenario.simulated import SimulatedTarget
from tidemark.harness.scenario.simulated.slow_hand import SlowHand
from tidemark.harness.search.shrink.cause import Cause, causes_of


class _QuickHand(SlowHand):
    """Messages are slow, and nobody waits for them who does not say so."""

    reaction_us = 1_000
    message_us = 60_000


class _Hand(SlowHand):
    reaction_us = 60_000


class _SlowHand(SlowHand):
    reaction_us = 300_000
    message_us = 10_000


class _UnevenHand(SlowHand):
    """Between some nodes messages take their time, and between others none."""

    reaction_us = 60_000
    message_us = 4_000
    uneven = 50


HARD_WORLDS: tuple[type[SlowHand], ...] = tuple(
    type(f"{kind.__name__}{seed}", (kind,), {"seed": seed})
    for seed in ("", "2")
    for kind in (_Hand, _SlowHand, _QuickHand, _UnevenHand)
)
"""In which a script should work too."""


MOST_PLAYS = 600
"""After so many plays a script is short enough."""
NAME = "tried"
"""What every script is called while it is tried, since noise is drawn by name."""


@dataclass(slots=True)
class Trying:
    """Tries texts for a cause.

    Attributes:
        variant, contract: the protocol, and the promise to judge by (None: the variant's own).
        cause: what is to be shown.
        plays: how often a script was played.
    """

    variant: str
    contract: str | None
    cause: Cause
    plays: int = 0
    _known: dict[tuple[str, type[SimulatedTarget]], bool] = field(default_factory=dict)

    def shown(self, text: str, world: type[SimulatedTarget] = SimulatedTarget) -> ScenarioOutcome | None:
        """The outcome, if the script could be carried out to its end and shows an anomaly of the cause."""
        try:
            scenario = parse_scenario(text)
        except ScenarioError:
            return None
        scenario.name = NAME
        self.plays += 1
        outcome = run_scenario(scenario, self.variant, world)
        if outcome.stopped:
            return None
        verdict = outcome.verdict if self.contract is None else check(outcome.history, self.contract)
        for anomaly in verdict.named(self.cause.name):
            if self.cause in causes_of(anomaly, verdict, outcome.history):
                return outcome
        return None

    @property
    def is_enough(self) -> bool:
        """Whether no more should be tried."""
        return self.plays >= MOST_PLAYS

    def shows(self, text: str, world: type[SimulatedTarget] = SimulatedTarget) -> bool:
        """Whether there is such an outcome; no script is played twice to know it."""
        key = text, world
        if key not in self._known:
            self._known[key] = self.shown(text, world) is not None
        return self._known[key]

    def sturdy(self, text: str, least: int = 0) -> int:
        """In how many of the hard worlds it is shown; −1 as soon as it is known to be fewer than so many."""
        shown = 0
        for number, world in enumerate(HARD_WORLDS, 1):
            shown += self.shows(text, world)
            if shown + len(HARD_WORLDS) - number < least:
                return -1
        return shown
