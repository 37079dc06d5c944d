"""Breadth first through all states: the first broken invariant is reached by a shortest way."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import Literal

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.invariants import INVARIANTS, Checks
from tidemark.harness.search.explore.moves import Move
from tidemark.harness.search.explore.symmetry import Symmetry
from tidemark.harness.search.explore.world import State, World
from tidemark.nodes.core.variant import Variant

Outcome = Literal["holds", "broken", "unfinished"]
OFTEN = 4_096
"""Between two looks at the clock so many states are expanded."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up."""

    states: int = 50_000_000
    seconds: float = float("inf")


@dataclass(slots=True)
class Found:
    """What a search came to.

    Attributes:
        outcome: ``holds``: every state was seen, and all invariants hold in it.
        seconds, cpu_seconds: how long it took, and how much of a processor.
        states: different ones, brokers' names apart. moves: how many led from one to another. depth: of the last level begun.
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
    with collector_paused():  # it would walk through all states time and again, and the steps leave no circles
        return _explore(variant, bounds, invariants, limits, progress)


def _explore(
    variant: Variant,
    bounds: Bounds,
    invariants: tuple[str, ...],
    limits: Limits,
    progress: Callable[[int, int, float], None] | None,
) -> Found:
    began, cpu = monotonic(), process_time()
    world = make_world(variant, bounds, invariants)
    symmetry, checks = Symmetry(world), Checks(world, invariants)
    canonical, successors, broken = symmetry.canonical, world.successors, checks.broken
    first = canonical(world.first())
    seen = {first}
    add = seen.add
    states = [first]
    parents = array("I", [0])
    moves = depth = number = 0
    level_end = 1

    def result(outcome: Outcome) -> Found:
        spent = monotonic() - began, process_time() - cpu
        return Found(outcome, world, len(states), moves, depth, *spent, world.worked_out())

    def counterexample(at: int, name: str) -> Found:
        found = result("broken")
        found.invariant = name
        found.first, found.steps = _way(world, symmetry, states, parents, at)
        found.why = (checks.broken(found.steps[-1][1] if found.steps else found.first) or ("", ""))[1]
        return found

    if wrong := broken(first):
        return counterexample(0, wrong[0])
    while number < len(states):
        if number == level_end:
            depth += 1
            level_end = len(states)
        if not number % OFTEN:
            seconds = monotonic() - began
            if progress is not None:
                progress(len(states), depth, seconds)
            if seconds > limits.seconds:
                return result("unfinished")
        if len(states) > limits.states:
            return result("unfinished")
        for _, then in successors(states[number]):
            moves += 1
            if then in seen:
                continue
            state = canonical(then)
            if state in seen:
                continue
            add(state)
            states.append(state)
            parents.append(number)
            if wrong := broken(state):
                depth += 1
                return counterexample(len(states) - 1, wrong[0])
        number += 1
    return result("holds")


def _way(
    world: World, symmetry: Symmetry, states: list[State], parents: array[int], at: int
) -> tuple[State, list[tuple[Move, State]]]:
    """The moves to a state, under one set of names: each is that move of the renamed run which leads to the same next state."""
    path = []
    while at:
        path.append(states[at])
        at = parents[at]
    first = state = world.first()
    steps = []
    for wanted in reversed(path):
        move, state = next((move, then) for move, then in world.successors(state) if symmetry.canonical(then) == wanted)
        steps.append((move, state))
    return first, steps
