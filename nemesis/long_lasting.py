"""Faults that last longer than anybody waits: every time-out, session and bound of liveness ends while they are in force."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.nemesis.fault import Fault
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.settings import MS, Settings

AFTER_US = 300 * MS
"""A plan goes on so long behind the end of such a fault."""


def long_lasting(rng: Random, settings: Settings) -> int:
    """A duration in µs, short and long equally likely."""
    return log_uniform(rng, _least(settings), settings.longest_wait_us * 7 // 4)


def _least(settings: Settings) -> int:
    return settings.longest_wait_us * 3 // 4


def is_long(fault: Fault, settings: Settings) -> bool:
    """Whether a fault lasts that long; one that is over at once never does."""
    return fault.lasts_us >= _least(settings) and not fault.row.doing.at_once


def end_of_long(faults: list[Fault], settings: Settings) -> int:
    """When a plan with these faults may end, at the earliest; 0 if none lasts long."""
    return max((one.at_us + one.lasts_us + AFTER_US for one in faults if is_long(one, settings)), default=0)


def with_some_long(rng: Random, faults: list[Fault], settings: Settings) -> list[Fault]:
    """The same faults; one to three of those that last do so for long."""
    lasting = [place for place, one in enumerate(faults) if not one.row.doing.at_once]
    chosen = rng.sample(lasting, min(len(lasting), rng.choice((1, 1, 2, 3))))
    return [
        replace(one, lasts_us=long_lasting(rng, settings)) if place in chosen else one
        for place, one in enumerate(faults)
    ]
