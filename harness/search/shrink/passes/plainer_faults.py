"""Faults made plainer: a time instead of an event, a role instead of a broker, a gentler kind, no side effects."""

from __future__ import annotations

from dataclasses import replace

from tidemark.harness.search.shrink.passes.rounder_times import EARLIEST_US
from tidemark.harness.search.shrink.round_numbers import near
from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Fault

ROLES = ("leader", "follower", "isr-member", "any")
GRIDS_US = (100_000, 10_000, 1_000, 1)


def plainer_faults(search: Search) -> None:
    """All at once where that does, else one by one."""
    search.faults_changed(_plain)
    for place in range(len(search.best.faults)):
        _kind(search, place)
        _time_instead_of_event(search, place)
        _role(search, place)


def _plain(fault: Fault) -> Fault:
    return replace(fault, pick=0, partition=0, clients=False)


def _kind(search: Search, place: int) -> None:
    while True:
        gentler = search.best.faults[place].row.gentler
        if not gentler or not search.fault_changed(place, kind=gentler):
            return


def _time_instead_of_event(search: Search, place: int) -> None:
    """Let it strike when it struck, as roundly as can be; else after the first such event rather than the nth."""
    trigger = search.best.faults[place].after
    if trigger is None:
        return
    struck = [entry[0] for entry in search.run.history.nemesis if entry[1] == "strike" and entry[2] == place]
    times = dict.fromkeys(time for strike in struck[:1] for grid in GRIDS_US for time in near(strike, grid))
    if any(search.fault_changed(place, after=None, at_us=time) for time in times):
        return
    search.fault_changed(place, after=replace(trigger, nth=1))
    search.fault_changed(place, at_us=EARLIEST_US)


def _role(search: Search, place: int) -> None:
    fault = search.best.faults[place]
    search.fault_changed(place, clients=False)
    search.fault_changed(place, partition=0)
    for role in ROLES:
        if role == fault.target:
            break
        if search.fault_changed(place, target=role, pick=0) or search.fault_changed(place, target=role):
            break
    for pick in range(min(search.best.faults[place].pick, 6)):
        if search.fault_changed(place, pick=pick):
            break
