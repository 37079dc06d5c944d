"""Times moved together and rounded, durations and amounts too, and the end of the faults brought near.

Taking a stretch of time out moves everything after it together: what happens in order goes on doing so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tidemark.harness.search.shrink.round_numbers import near, rounder
from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Plan

GRIDS_US = (1_000_000, 500_000, 100_000, 10_000, 1_000)
EARLIEST_US = 500_000
"""By then a cluster has come up; what is brought forward, is no further than to here."""
GAPS_US = (0, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
"""How far apart two moments may be that were further apart."""

Move = Callable[[int], int]
"""From a moment to where it goes, in µs."""


def rounder_times(search: Search) -> None:
    """First whole stretches, then each time for itself."""
    _durations(search)
    _nearer_end(search)
    _closer(search)
    _all_on_a_grid(search)
    _each(search)
    _durations(search)
    _nearer_end(search)
    if search.best.workload.again_us:
        search.changed(workload=replace(search.best.workload, again_us=0))
    if search.best.workload.patience_us:
        search.changed(workload=replace(search.best.workload, patience_us=0))
    for time in rounder(search.best.workload.poll_us):
        if time and search.changed(workload=replace(search.best.workload, poll_us=time)):
            break


def moved(plan: Plan, move: Move) -> Plan:
    """The plan with every moment moved, and in order; durations stay."""
    work = plan.workload
    sends = [replace(send, at_us=move(send.at_us)) for send in work.sends or ()]
    faults = [replace(fault, at_us=move(fault.at_us)) for fault in plan.faults]
    sends.sort(key=lambda send: send.at_us)
    faults.sort(key=lambda fault: fault.at_us)
    workload = replace(work, sends=None if work.sends is None else tuple(sends))
    return replace(plan, faults=tuple(faults), faults_end_us=move(plan.faults_end_us), workload=workload)


def moments_of(plan: Plan) -> list[int]:
    """When something happens that the plan says, in order, each once."""
    sends = [send.at_us for send in plan.workload.sends or ()]
    return sorted({*sends, *(fault.at_us for fault in plan.faults), plan.faults_end_us})


def _nearer_end(search: Search) -> None:
    """As soon as the last fault that lasts is over, or even before."""
    plan = search.best
    last = max((fault.at_us for fault in plan.faults), default=0)
    over = max((fault.at_us + fault.lasts_us for fault in plan.faults), default=0)
    nearer = [*(last + gap for gap in GAPS_US), over, search.anomaly.time]
    for end in dict.fromkeys(near(time, 100_000)[-1] for time in sorted(nearer)):
        if search.changed(faults_end_us=end):
            return


def _closer(search: Search) -> None:
    """Take out of every stretch between two moments as much as can be, from the first on."""
    place = 0
    while place < len(moments := moments_of(search.best)):
        since, until = moments[place - 1] if place else EARLIEST_US, moments[place]
        for gap in GAPS_US:
            less = until - since - gap
            if less > 0 and search.accepts(moved(search.best, _earlier(until, less))):
                break
        place += 1


def _all_on_a_grid(search: Search) -> None:
    for grid in GRIDS_US:
        if search.accepts(moved(search.best, _down(grid))) or search.accepts(moved(search.best, _up(grid))):
            return


def _each(search: Search) -> None:
    """Each moment on the coarsest grid that it can be on; what happens at the same time stays together."""
    for place in range(len(moments_of(search.best))):
        moments = moments_of(search.best)
        if place >= len(moments):
            return
        moment = moments[place]
        for time in dict.fromkeys(time for grid in GRIDS_US for time in near(moment, grid)):
            if time >= min(moment, EARLIEST_US) and search.accepts(moved(search.best, _instead(moment, time))):
                break


def _earlier(since: int, by: int) -> Move:
    return lambda time: time - by if time >= since else time


def _down(grid: int) -> Move:
    return lambda time: max(time // grid * grid, min(time, EARLIEST_US))


def _up(grid: int) -> Move:
    return lambda time: -(-time // grid) * grid


def _instead(before: int, after: int) -> Move:
    return lambda time: after if time == before else time


def _durations(search: Search) -> None:
    search.faults_changed(lambda fault: replace(fault, lasts_us=0))
    search.faults_changed(lambda fault: replace(fault, lasts_us=0, amount=0))
    for place, fault in enumerate(search.best.faults):
        for lasts in rounder(fault.lasts_us):
            if search.fault_changed(place, lasts_us=lasts):
                break
        for amount in rounder(fault.amount):
            if search.fault_changed(place, amount=amount):
                break
