"""What a run in containers is doing, and how to show it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tidemark.checkers.history.history import NemesisOp
from tidemark.harness.clients.counters import Counters
from tidemark.nemesis.kinds import is_over_at_once

LOOK_S = 0.1
REFRESH_PER_S = 8


@dataclass(slots=True)
class RunProgress:
    """Where a run is; written by it, read by whoever shows it.

    Attributes:
        phase: in a few words.
        faults: those in force, by their place in the plan.
        counters: how far the clients are.
        began_s: when the phase in which clients work began (monotonic).
    """

    phase: str = "waiting"
    faults: dict[int, str] = field(default_factory=dict)
    counters: Counters = field(default_factory=Counters)
    began_s: float | None = None

    def enter(self, phase: str) -> None:
        """Another phase begins."""
        self.phase = phase

    def note(self, entry: NemesisOp) -> None:
        """A fault struck, or was healed."""
        _, what, index, kind, detail = entry
        if what == "strike" and not is_over_at_once(kind, detail):
            self.faults[index] = kind
        elif index < 0:
            self.faults.clear()
        else:
            self.faults.pop(index, None)

    def __str__(self) -> str:
        """Phase, faults in force, and what the clients have done so far."""
        words = [self.phase]
        faults = sorted(self.faults.copy().values())
        if faults:
            words.append(", ".join(faults))
        counts = self.counters.snapshot()
        if counts["invoked"] and self.began_s is not None:
            rate = counts["invoked"] / max(time.monotonic() - self.began_s, 0.1)
            words.append(f"{counts['ok']} acked, {counts['fail']} failed, {counts['info']} unknown, {rate:.0f}/s")
        return " · ".join(words)


class Holder(Protocol):
    """Something that has a run under way."""

    @property
    def progress(self) -> RunProgress:
        """Of the run under way."""
        ...


@contextmanager
def shown(holder: Holder, console: Console | None = None) -> Iterator[None]:
    """While it lasts, show the progress: one line that changes on a terminal, else a line for each phase.

    Args:
        holder: its ``progress`` may be replaced by another run's at any time.
        console: where; standard error unless told.
    """
    console = console or Console(stderr=True)
    if console.is_terminal:
        with Live(
            get_renderable=lambda: Text(str(holder.progress), overflow="ellipsis", no_wrap=True),
            console=console,
            refresh_per_second=REFRESH_PER_S,
            transient=True,
        ):
            yield
        return
    over = threading.Event()
    teller = threading.Thread(target=_tell, args=(holder, console, over), name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _tell(holder: Holder, console: Console, over: threading.Event) -> None:
    last = RunProgress().phase
    while not over.wait(LOOK_S):
        phase = holder.progress.phase
        if phase != last:
            console.print(phase, highlight=False, markup=False)
            last = phase
