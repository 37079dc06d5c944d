"""The kinds of trouble, each with its plans: one moment of trouble in a run, or two, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tidemark.nemesis import Fault, ObjectWorkload, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

S: Final = 1_000_000
ENDS_US: Final = 8 * S
"""When everything is healed."""
FIRST_US: Final = (3 * S // 2, 5 * S // 2)
"""Trouble begins between these."""
SECOND_US: Final = 11 * S // 2
LONGEST_US: Final = 5 * S // 2
FELT_US: Final = 8 * S // 5
"""What is hidden shorter than a session lasts is not noticed."""
NODES: Final = 3
POWER: Final = "power-"
"""Begins the names of power losses."""
_WORK = WorkloadSpec(producers=3, consumers=1, interval_us=40_000, poll_us=S // 4, batch=1)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A kind of trouble.

    Attributes:
        name: a word. words: the heading of its column. about: what happens, in a sentence.
        faults: index of the plan, when it begins and how long it lasts (µs), chance → faults.
    """

    name: str
    words: str
    about: str
    faults: Callable[[int, int, int, Random], tuple[Fault, ...]]


def _kill(_: int, at: int, lasts: int, chance: Random) -> tuple[Fault, ...]:
    return Fault("crash", at, lasts, "leader"), Fault("crash-all", SECOND_US, S // 2)


def _pause(_: int, at: int, lasts: int, chance: Random) -> tuple[Fault, ...]:
    long = max(lasts, FELT_US)
    return Fault("pause", at, long, "leader"), Fault("pause", SECOND_US, S, "any", chance.randrange(NODES))


def _partition(index: int, at: int, lasts: int, chance: Random) -> tuple[Fault, ...]:
    cut = Fault("isolate", at, max(lasts, FELT_US), "leader", clients=index % 2 == 1)
    return cut, Fault("halves", SECOND_US, 3 * S // 2, "leader", chance.randrange(NODES))


def _power_one(index: int, at: int, lasts: int, chance: Random) -> tuple[Fault, ...]:
    return (Fault("power", at, lasts, ("leader", "follower")[index % 2], chance.randrange(NODES)),)


def _power_two(index: int, at: int, lasts: int, _: Random) -> tuple[Fault, ...]:
    spared = (3, 2, 1)[index % NODES]
    return tuple(Fault("power", at, lasts, f"b{node}") for node in range(1, NODES + 1) if node != spared)


def _power_all(_index: int, at: int, lasts: int, _: Random) -> tuple[Fault, ...]:
    return (Fault("power-all", at, lasts),)


TROUBLES: Final = {
    one.name: one
    for one in (
        Trouble(
            "kill",
            "kill",
            "The leader is killed (kill -9) and restarted; later all three are killed at once, and restarted.",
            _kill,
        ),
        Trouble(
            "pause", "pause", "The leader is paused (SIGSTOP) and resumed; later one of the three is paused.", _pause
        ),
        Trouble(
            "partition",
            "partition",
            "A partition cuts the leader off from the other servers (in every second plan from its clients as well); later a "
            "partition splits the three servers in two.",
            _partition,
        ),
        Trouble(
            "power-one",
            "power loss of one",
            "One server loses power: the leader in every second plan, else a follower.",
            _power_one,
        ),
        Trouble("power-two", "power loss of two", "Two servers lose power at once.", _power_two),
        Trouble("power-all", "power loss of all three", "All three servers lose power at once.", _power_all),
    )
}
"""By name, in the order of the columns."""


def plan_of(trouble: str, seed: int, index: int, kind: str = "") -> Plan:
    """A plan, in times that a system multiplies by what it needs.

    Args:
        trouble: one of `TROUBLES`.
        seed: of all plans.
        index: which plan.
        kind: the object that clients work on (``set``), if it is no log.
    """
    chance = Random(f"{seed}/{trouble}/{index}")
    at, lasts = chance.randint(*FIRST_US), chance.randint(S // 2, LONGEST_US)
    faults = TROUBLES[trouble].faults(index, at, lasts, chance)
    work = _WORK
    if kind:
        work = replace(_WORK, poll_us=_WORK.interval_us, object=ObjectWorkload(kind, reads=1, writes=4))
    return Plan(index, seed, chance.randrange(2**31), trouble, ClusterSpec(), work, faults, ENDS_US)
