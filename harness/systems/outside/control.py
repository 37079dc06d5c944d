"""Controls the program of one machine, through its keeper (``tidemark.nodes.keeper``)."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.harness.systems.kafka.scripts import KafkaScripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.harness.machines.node_control import NodeMachine

ASKED = ".asked"
"""Beside the program's number: there if it was asked to shut down (``tidemark.nodes.keeper.start``)."""
LEDGER = "var/lib/tidemark/volatile/ledger"


@dataclass(frozen=True, slots=True)
class KeptPlaces(KafkaPlaces):
    """As beside a broker: what the program has written lies where it belongs, and a ledger tells what of it was synced."""

    @property
    def ledger(self) -> str:
        """Directory, on the tmpfs that other systems have for their page cache."""
        return self._at(LEDGER)


class KeptScripts(KafkaScripts):
    """Signals go to the program; the node is gone when its keeper is, which ends a moment after the program."""

    module = "tidemark.nodes.keeper"
    damages = "tidemark.nodes.keeper.damage"
    preload = "TIDEMARK_NOTHING_PRELOADED"
    start_looks = 2_400
    start_pause_s = 0.025

    @property
    def _ledger(self) -> str:
        return quote(KeptPlaces().ledger if not isinstance(self._places, KeptPlaces) else self._places.ledger)

    def signal(self, name: str, until: str = "") -> str:
        """As usual; a program that was asked to shut down may end with any exit code, and its keeper is told that it was."""
        asked = f"touch {quote(self._places.pid + ASKED)}\n" if name == "TERM" else ""
        return asked + super().signal(name, until)

    def lose_power(self, how: str) -> str:
        """Brings the files back to what the program had synced; how much of the rest survives is not drawn: nothing does."""
        return f"python3 -m tidemark.nodes.keeper.power_loss --data {quote(self._places.data)} --ledger {self._ledger}"

    def _places_of_files(self) -> str:
        return f"{super()._places_of_files()} --ledger {self._ledger}"

    def wipe(self, partitions: tuple[str, ...]) -> str:
        """Empties the disk, and with it the ledger."""
        return f"{super().wipe(())}rm -rf {self._ledger}\n"


class KeptControl(NodeControl):
    """As for Tidemark's own nodes: the keeper's admin port speaks the same language, and goes on while the program is paused."""

    answers_while_paused = True
    scripts = KeptScripts

    def __init__(self, machine: NodeMachine, on_lost: Callable[[], None] | None = None) -> None:
        super().__init__(machine, KeptPlaces(), on_lost)

    def kill(self) -> bool:
        """A keeper may outlive a program that was shutting down when it was killed; then it is killed as well."""
        try:
            return super().kill()
        except NodeError:
            return super().kill()
