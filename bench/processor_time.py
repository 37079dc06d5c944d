"""Processor time of this process and of all that it has started, alive or dead: the JVM, Spark's daemon and its workers, a pool.

What a process and its threads have used stands in /proc/PID/stat, in ticks of 10 ms, until its parent has waited for it; then it is
added to what the parent says of its children. Spark's daemon waits for nobody (it ignores SIGCHLD), and nothing is added anywhere.
So all are looked at every second, and of what is gone the last look counts: nothing that was counted is ever taken back. Nothing of
this process's own children is lost, for it does wait; of a grandchild, what it used in the second before it ended, which is nothing
for a worker that Spark lets go because it is idle. What the looking costs is left out.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

EVERY_SECONDS = 1
TICKS = os.sysconf("SC_CLK_TCK")
COMMAND_OF_JVM = "java"


class Spent(NamedTuple):
    """Seconds of processors: of this process and its children that have ended, of JVMs, and of all others below it."""

    here: float
    jvm: float
    others: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self)

    def since(self, earlier: Spent) -> Spent:
        """What was spent between."""
        return Spent(*(now - then for now, then in zip(self, earlier, strict=True)))


class _Process(NamedTuple):
    command: str
    parent: int
    own: int
    waited_for: int
    began: int


class ProcessorTime:
    """Looks at the processes for as long as it is entered."""

    def __init__(self) -> None:
        self._below: dict[tuple[int, int], _Process] = {}
        self._lock = threading.Lock()
        self._looking = 0.0
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="processor-time", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._enough.set()
        self._thread.join()

    def spent(self) -> Spent:
        """Until now, by all."""
        with self._lock:
            here = self._look()
            jvm = sum(process.own for process in self._below.values() if process.command == COMMAND_OF_JVM)
            others = sum(process.own for process in self._below.values()) - jvm
            return Spent((here.own + here.waited_for) / TICKS - self._looking, jvm / TICKS, others / TICKS)

    def _look_on(self) -> None:
        while not self._enough.wait(EVERY_SECONDS):
            with self._lock:
                self._look()

    def _look(self) -> _Process:
        """See to everybody; gives this process."""
        began, me = time.thread_time(), os.getpid()
        there = processes()
        known = {pid for pid, started in self._below if pid in there and there[pid].began == started}
        found = below(there, {me, *known})
        waited_for = [key for key, process in self._below.items() if process.parent == me and key[0] not in known]
        for key in waited_for:
            del self._below[key]
        self._below |= {(pid, there[pid].began): there[pid] for pid in found - {me}}
        self._looking += time.thread_time() - began
        return there[me]


def below(there: Mapping[int, _Process], roots: set[int]) -> set[int]:
    """The roots, and all that they have started, and that these have."""
    found = set(roots)
    while more := {pid for pid, process in there.items() if process.parent in found} - found:
        found |= more
    return found


def memory_of(pid: int, which: str) -> int:
    """What a process has in memory now (`VmRSS`), or had at most (`VmHWM`), in kilobytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{which}:")), 0)


def processes() -> dict[int, _Process]:
    """All of this machine."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:  # it has ended
            continue
        fields = after.split()  # proc(5), from the third on
        own, waited_for = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
        found[int(stat.parent.name)] = _Process(
            before.partition("(")[2], int(fields[1]), own, waited_for, int(fields[19])
        )
    return found
