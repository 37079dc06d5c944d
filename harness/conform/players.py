"""The worlds that a script is played in: the simulator, and targets on machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.scenario.play import ScenarioOutcome, SetUp, Tell, run_scenario


class Player(Protocol):
    """Plays pairings."""

    @property
    def name(self) -> str:
        """What ``--worlds`` calls it."""

    @property
    def repeats(self) -> bool:
        """Whether a second try may come out otherwise than the first."""

    def system(self, pairing: Pairing) -> str:
        """What runs there, in the words that findings and headings use."""

    def play(self, pairing: Pairing, tell: Tell) -> ScenarioOutcome:
        """One run.

        Raises:
            CannotPlayError: this world has no means for it.
            ContainerWorldError, ScriptError: it could not be carried out this time.
        """

    def renew(self) -> None:
        """After a run that could not be carried out: let the next one find everything as if new.

        Raises:
            ContainerWorldError: it cannot.
        """


class SimulatorPlayer:
    """The model in the simulator; the same every time."""

    name = "sim"
    repeats = False

    def system(self, pairing: Pairing) -> str:
        """Always the same."""
        return "simulator"

    def play(self, pairing: Pairing, tell: Tell) -> ScenarioOutcome:
        """One run."""
        return run_scenario(pairing.scenario, pairing.model, tell=tell, plays=pairing.preset)

    def renew(self) -> None:
        """There is nothing that could be left."""


class MachinePlayer:
    """A world on machines.

    Args:
        name: what ``--worlds`` calls it.
        set_up: what makes the targets, as things stand now; machines may have been replaced since the last run.
        renew: gives new machines for the next run.
        real: it is the pairing's system that runs there, and not the model.
    """

    repeats = True

    def __init__(
        self, name: str, set_up: Callable[[], SetUp], renew: Callable[[], None], *, real: bool = False
    ) -> None:
        self._name = name
        self._set_up = set_up
        self._renew = renew
        self._real = real

    @property
    def name(self) -> str:
        """What ``--worlds`` calls it."""
        return self._name

    def system(self, pairing: Pairing) -> str:
        """What runs there."""
        return pairing.system if self._real else "containers"

    def play(self, pairing: Pairing, tell: Tell) -> ScenarioOutcome:
        """One run."""
        variant = pairing.preset if self._real else pairing.model
        return run_scenario(pairing.scenario, variant, self._set_up(), tell, plays=pairing.preset)

    def renew(self) -> None:
        """New machines for the next run."""
        self._renew()
