"""A plan that shows something by luck, changed until it shows it whatever the luck.

A caught plan may rest on the order of two messages. On real machines every delay is another one, and where sessions are longer a
message takes a smaller part of one. So what is to be seen there again must be shown under nearly every noise, at their pace.

Faults are dropped, made longer or shorter, moved, and drawn apart. A change is kept if the plan shows it under no fewer noises than
before, and has no more faults for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from tidemark.harness.search.shrink.judge import noises_of
from tidemark.nemesis import Fault, Plan
from tidemark.nodes.core.settings import MS

NOISES = 12
"""Under so many a plan is tried, at one pace after the other."""
MOST_CHANGES, ENOUGH = 400, 80
"""So many changes are tried; so many in vain, once it is shown under every noise, are enough."""
_LONGEST_PLANS = 2
"""A plan may become so many times as long as the longest wait, for each of its faults."""
_APART_US = 100 * MS
_MOVED_US = 800 * MS


class Sturdy(NamedTuple):
    """A plan, and under how many of `NOISES` noises it shows it."""

    plan: Plan
    shown: int


def sturdier(
    plan: Plan,
    shows: Callable[[Plan], bool],
    paces: Sequence[float] = (1.0,),
    tell: Callable[[Sturdy], None] = lambda _: None,
) -> Sturdy:
    """The sturdiest plan that was found, beginning with one that shows it. The same plan gives the same.

    Args:
        plan: to begin with.
        shows: whether a plan shows it, under its own noise.
        paces: by how much all its times are multiplied in turn, messages excepted.
        tell: hears how far it is.
    """
    rng = Random(f"tidemark sturdier/{plan.seed}/{plan.index}")
    best = Sturdy(plan, _shown(plan, shows, paces, 0))
    in_vain = 0
    for _ in range(MOST_CHANGES):
        candidate = _changed(rng, best.plan)
        found = Sturdy(candidate, _shown(candidate, shows, paces, best.shown))
        fewer = len(candidate.faults) < len(best.plan.faults)
        in_vain = 0 if found.shown > best.shown or (found.shown == best.shown and fewer) else in_vain + 1
        if found.shown > best.shown or (found.shown == best.shown and len(candidate.faults) <= len(best.plan.faults)):
            best = found
            tell(best)
        if best.shown == NOISES and in_vain >= ENOUGH:
            break
    return best


def _shown(plan: Plan, shows: Callable[[Plan], bool], paces: Sequence[float], least: int) -> int:
    """Under how many noises; −1 as soon as they are known to be fewer than so many."""
    shown = 0
    for number, one in enumerate(noises_of(plan, NOISES), 1):
        shown += shows(one.scaled(paces[number % len(paces)]))
        if shown + NOISES - number < least:
            return -1
    return shown


def _changed(rng: Random, plan: Plan) -> Plan:
    faults = [*plan.faults]
    place = rng.randrange(len(faults))
    one = faults[place]
    way = rng.random()
    if way < 0.25 and len(faults) > 1:
        del faults[place]
    elif way < 0.5:
        longest = plan.cluster.settings.longest_wait_us * 7 // 4
        faults[place] = replace(one, lasts_us=min(int(one.lasts_us * rng.choice((0.5, 1.5, 2, 3))), longest))
    elif way < 0.75:
        faults[place] = replace(one, at_us=max(one.at_us + rng.randrange(-_MOVED_US, _MOVED_US), _APART_US))
    elif way < 0.9:
        factor = rng.choice((1.5, 2))
        faults = [_later(fault, one.at_us, factor) for fault in faults]
    elif one.kind == "restart":
        faults[place] = replace(one, kind="crash", lasts_us=plan.cluster.settings.session_us * 3 // 2)
    end = max([plan.faults_end_us, *(fault.at_us + fault.lasts_us + _APART_US for fault in faults)])
    most = _LONGEST_PLANS * len(plan.faults) * plan.cluster.settings.longest_wait_us
    if end > max(most, plan.faults_end_us):
        return plan
    return replace(plan, faults=tuple(sorted(faults, key=lambda fault: fault.at_us)), faults_end_us=end)


def _later(fault: Fault, than_us: int, factor: float) -> Fault:
    """So many times as far behind a moment."""
    if fault.at_us <= than_us:
        return fault
    return replace(fault, at_us=int(than_us + (fault.at_us - than_us) * factor))
