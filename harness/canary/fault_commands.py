"""Faults that somebody's own commands make, and commands that mend them: run every so often, and written down."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from tidemark.harness.canary.canary_error import CanaryError
from tidemark.harness.canary.command_runner import CommandRunner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.checkers.history.history import NemesisOp

KIND: Final = "command"
PATIENCE_S: Final = 120.0
"""A command that takes longer is ended."""


@dataclass(frozen=True, slots=True)
class FaultOrder:
    """What to run, and when; times in seconds.

    Attributes:
        strike: the shell command that makes the fault.
        heal: the one that mends it, if any.
        every_s: from one strike to the next, and before the first.
        after_s: from a strike to its healing.
    """

    strike: str
    heal: str | None
    every_s: float
    after_s: float


class FaultCommands:
    """Has them run, in turn, by a thread of its own until it is stopped; what is broken then is mended first."""

    def __init__(
        self,
        order: FaultOrder,
        *,
        clock: Callable[[], int],
        record: Callable[[NemesisOp], None],
        tell: Callable[[str], None],
        log: Path,
    ) -> None:
        """Run nothing yet.

        Args:
            order: what to run.
            clock: µs since the run began.
            record: takes each strike and healing.
            tell: says it to a person.
            log: where the commands' own words go.
        """
        self._order = order
        self._clock = clock
        self._record = record
        self._tell = tell
        self._log = log
        self._stopping = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)

    def start(self) -> None:
        """Begin to wait for the first."""
        self._thread.start()

    def stop(self) -> None:
        """No more strikes; returns when the last one is mended.

        Raises:
            CanaryError: commands could not be run any more, so the history does not tell of all faults.
        """
        self._stopping.set()
        self._thread.join()
        if self._failure is not None:
            raise CanaryError(
                f"the commands of --fault and --heal could not be run: {self._failure}"
            ) from self._failure

    def _run(self) -> None:
        try:
            self._in_turn()
        except Exception as error:  # noqa: BLE001 - told when it is stopped
            self._failure = error

    def _in_turn(self) -> None:
        order, index = self._order, 0
        with closing(CommandRunner(order.strike, order.heal, self._log, PATIENCE_S)) as runner:
            due = time.monotonic() + order.every_s
            while not self._stopping.wait(max(due - time.monotonic(), 0)):
                due += order.every_s
                self._do(runner, "strike", index, order.strike)
                if order.heal is not None:
                    self._stopping.wait(order.after_s)
                    self._do(runner, "heal", index, order.heal)
                index += 1

    def _do(self, runner: CommandRunner, what: Literal["strike", "heal"], index: int, command: str) -> None:
        began = self._clock()
        code = runner.run(what)
        came_to = "did not end in time" if code is None else f"exit code {code}"
        self._record((began, what, index, KIND, {"command": command, "came_to": came_to}))
        failed = "" if code == 0 else f": {came_to} ({self._log} has its words)"
        self._tell(f"{what} {index + 1}: {command}{failed}")
