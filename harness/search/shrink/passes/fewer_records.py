"""The workload down to the records that matter.

What the producers of a run sent is in its history, so a workload that is drawn becomes a list of sends, and those that do not
matter are dropped like faults. The last before the anomaly matter most, so they are tried alone first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.harness.search.shrink.as_it_happened import sends_of
from tidemark.harness.search.shrink.ddmin import ddmin
from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Send

PATIENCE = 5
"""All sends written down are judged under so many times as many noises: everything else about records depends on it."""
LAST = (1, 2, 3, 5, 8)
"""So many of the last sends are tried alone."""


def fewer_records(search: Search) -> None:
    """Drop producers, consumers, sends, and records of sends."""
    if search.best.workload.sends is None and not _written_down(search):
        _quieter(search)
        return
    search.changed(workload=replace(search.best.workload, consumers=0))
    if search.best.workload.consumers > 1:
        search.changed(workload=replace(search.best.workload, consumers=1))
    _alone(search, search.best.workload.sends or (), search.anomaly.time)
    ddmin(search.best.workload.sends or (), lambda left: _with(search, left))
    _with(search, [replace(send, records=1, producer=1, partition=0) for send in search.best.workload.sends or ()])
    for changes in ({"records": 1}, {"records": 2}, {"producer": 1}, {"partition": 0}):
        _each(search, **changes)
    _renumbered(search)


def _each(search: Search, **changes: int) -> None:
    """Change all sends at once, or those that can be changed."""
    if _with(search, [replace(send, **changes) for send in search.best.workload.sends or ()]):
        return
    for place in range(len(search.best.workload.sends or ())):
        sends = search.best.workload.sends or ()
        _with(search, [replace(send, **changes) if i == place else send for i, send in enumerate(sends)])


def _renumbered(search: Search) -> None:
    """Producers that send nothing are none."""
    sends = search.best.workload.sends or ()
    names = {name: new for new, name in enumerate(sorted({send.producer for send in sends}), 1)}
    _with(search, [replace(send, producer=names[send.producer]) for send in sends])


def _written_down(search: Search) -> bool:
    """Whether the workload is a list of sends now."""
    sends, time = sends_of(search.run.history), search.anomaly.time
    if _alone(search, sends, time):
        return True
    with search.patiently(PATIENCE):
        return _with(search, sends)


def _alone(search: Search, sends: list[Send] | tuple[Send, ...], time: int) -> bool:
    """Whether the last sends before a time, and before the faults strike that are left, are enough."""
    strikes = [entry[0] for entry in search.run.history.nemesis if entry[1] == "strike"]
    for until in dict.fromkeys((time, *strikes)):
        before = [send for send in sends if send.at_us <= until]
        for count in LAST:
            if count < len(sends) and _with(search, before[-count:]):
                return True
    return False


def _with(search: Search, sends: list[Send]) -> bool:
    producers = max((send.producer for send in sends), default=1)
    return search.changed(workload=replace(search.best.workload, sends=tuple(sends), producers=producers))


def _quieter(search: Search) -> None:
    """A workload that is drawn, and cannot be written down: at least less of it."""
    changes: tuple[dict[str, Any], ...] = ({"consumers": 0}, {"producers": 1}, {"batch": 1})
    for change in changes:
        search.changed(workload=replace(search.best.workload, **change))
