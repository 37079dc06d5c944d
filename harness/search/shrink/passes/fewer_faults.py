"""Faults dropped: those that never struck, whole kinds, by delta debugging, and in pairs."""

from __future__ import annotations

from tidemark.harness.search.shrink.ddmin import ddmin, without_pairs
from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Fault


def fewer_faults(search: Search) -> None:
    """Drop what can be dropped."""
    struck = {entry[2] for entry in search.run.history.nemesis if entry[1] == "strike"}
    search.changed(faults=tuple(fault for i, fault in enumerate(search.best.faults) if i in struck))
    for kind in dict.fromkeys(fault.kind for fault in search.best.faults):
        search.changed(faults=tuple(fault for fault in search.best.faults if fault.kind != kind))

    def holds(left: list[Fault]) -> bool:
        return search.changed(faults=tuple(left))

    ddmin(search.best.faults, holds)
    without_pairs(search.best.faults, holds)
