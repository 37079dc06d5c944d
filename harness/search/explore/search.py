"""Breadth first through all states: the first broken invariant is reached by a shortest way.

A level of states is expanded as a whole, by arrays, and its invariants are looked at when all of it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import Literal

import numpy as np

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.fingerprints import Fingerprints
from tidemark.harness.search.explore.invariants import INVARIANTS, Checks
from tidemark.harness.search.explore.moves import Move
from tidemark.harness.search.explore.states import Candidates, States
from tidemark.harness.search.explore.world import State, World
from tidemark.nodes.core.variant import Variant

Outcome = Literal["holds", "broken", "unfinished"]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up: at the end of the level in which there are more states, or after so many seconds."""

    states: int = 50_000_000
    seconds: float = float("inf")


@dataclass(slots=True)
class Found:
    """What a search came to.

    Attributes:
        outcome: ``holds``: every state was seen, and all invariants hold in it.
        seconds, cpu_seconds: how long it took, and how much of a processor.
        states: different ones, brokers' names apart. moves: how many led from one to another. depth: of the last level.
        invariant, why: what is broken, and how. steps: a shortest way there, with the state after each move.
        worked_out: how many steps the core took; all others were looked up. shortest: whether no way there is shorter.
    """

    outcome: Outcome
    world: World
    states: int
    moves: int
    depth: int
    seconds: float
    cpu_seconds: float
    worked_out: int
    invariant: str = ""
    why: str = ""
    first: State = ()
    steps: list[tuple[Move, State]] = field(default_factory=list)
    shortest: bool = True


def make_world(variant: Variant, bounds: Bounds, invariants: tuple[str, ...]) -> World:
    """The world of a variant, which keeps what these invariants need."""
    needs = {INVARIANTS[name].needs for name in invariants}
    return World(variant, bounds, watch_fetching="fetching" in needs, watch_commits="commits" in needs)


def explore(
    variant: Variant,
    bounds: Bounds,
    invariants: tuple[str, ...],
    limits: Limits = Limits(),
    progress: Callable[[int, int, float], None] | None = None,
) -> Found:
    """Search all states within the bounds.

    Args:
        variant: the protocol.
        bounds: what may happen.
        invariants: names, looked at in this order.
        limits: when to give up.
        progress: told (states, depth, seconds) now and then.
    """
    began, cpu = monotonic(), process_time()
    with collector_paused():  # it would walk through all states time and again, and the steps leave no circles
        states = States(make_world(variant, bounds, invariants), invariants)
        outcome, way = _search(states, limits, progress)
    spent = monotonic() - began, process_time() - cpu
    world = make_world(variant, bounds, invariants)
    found = Found(outcome, world, len(states), states.moves, states.depth, *spent, states.worked_out())
    if outcome == "broken":
        found.first, found.steps = _steps(world, way)
        wrong = Checks(world, invariants).broken(found.steps[-1][1] if found.steps else found.first)
        found.invariant, found.why = wrong or ("", "")
    return found


def _search(
    states: States, limits: Limits, progress: Callable[[int, int, float], None] | None
) -> tuple[Outcome, list[int]]:
    """What it came to, and the fingerprints of the states on the way to what is broken, the first state's left out."""
    began = monotonic()
    while (broken := states.broken()) is None:
        if len(states) > limits.states:
            return "unfinished", []
        found = []
        for begin in states.parts():
            seconds = monotonic() - began
            if progress is not None:
                progress(len(states), states.depth, seconds)
            if seconds > limits.seconds:
                return "unfinished", []
            found.append(states.expand(begin))
        level = Candidates.together(found)
        if not len(level.rows):
            return "holds", []
        states.take(level)
    return "broken", states.way(broken)


def _steps(world: World, way: list[int]) -> tuple[State, list[tuple[Move, State]]]:
    """Moves by that way, under one set of names: each is the first that leads to what stands for the same next state."""
    fingerprints = Fingerprints(world)
    first = state = world.first()
    steps = []
    for wanted in way:
        moves = world.successors(state)
        _, prints = fingerprints.canonical(np.array([then for _, then in moves], np.int64))
        move, state = moves[int(np.flatnonzero(prints == np.uint64(wanted))[0])]
        steps.append((move, state))
    return first, steps
