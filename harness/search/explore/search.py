"""Breadth first through all states: the first broken invariant is reached by a shortest way.

A level of states is expanded as a whole, by arrays, and its invariants are looked at when all of it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import Literal, NamedTuple

import numpy as np

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.fingerprints import Fingerprints
from tidemark.harness.search.explore.invariants import INVARIANTS, Checks
from tidemark.harness.search.explore.mesh import Mesh
from tidemark.harness.search.explore.moves import Move
from tidemark.harness.search.explore.processes import in_step
from tidemark.harness.search.explore.states import States
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
    *,
    jobs: int = 1,
) -> Found:
    """Search all states within the bounds.

    Args:
        variant: the protocol.
        bounds: what may happen.
        invariants: names, looked at in this order.
        limits: when to give up.
        progress: told (states, depth, seconds) now and then.
        jobs: how many processes share the states; what is found does not depend on it.

    Raises:
        ProcessEndedError: one of the processes was ended from outside.
    """
    began = monotonic()

    def search(mesh: Mesh) -> _CameTo:
        cpu = process_time()
        with (
            collector_paused()
        ):  # it would walk through all parts of states time and again, and the steps leave no circles
            states = States(make_world(variant, bounds, invariants), invariants, mesh)
            outcome, way = _search(states, mesh, limits, progress if mesh.rank == 0 else None)
            spent = mesh.all((states.moves, states.worked_out(), process_time() - cpu))
        moves, worked_out, seconds = (sum(column) for column in zip(*spent, strict=True))
        return _CameTo(outcome, states.count, moves, states.depth, monotonic() - began, seconds, worked_out, way)

    came = in_step(search, jobs)
    world = make_world(variant, bounds, invariants)
    found = Found(came.outcome, world, *came[1:-1])
    if came.outcome == "broken":
        found.first, found.steps = _steps(world, came.way)
        wrong = Checks(world, invariants).broken(found.steps[-1][1] if found.steps else found.first)
        found.invariant, found.why = wrong or ("", "")
    return found


class _CameTo(NamedTuple):
    """The numbers of :class:`Found`, and the fingerprints of the states on the way to what is broken, without the first state's."""

    outcome: Outcome
    states: int
    moves: int
    depth: int
    seconds: float
    cpu_seconds: float
    worked_out: int
    way: list[int]


def _search(
    states: States, mesh: Mesh, limits: Limits, progress: Callable[[int, int, float], None] | None
) -> tuple[Outcome, list[int]]:
    """What it came to, and the way to what is broken."""
    began = monotonic()
    while (broken := states.broken()) is None:
        if not states.size:
            return "holds", []
        if states.count > limits.states:
            return "unfinished", []
        states.prepare()
        found, late = [], False
        for begin in states.parts():
            seconds = monotonic() - began
            if progress is not None:
                progress(states.count, states.depth, seconds)
            late = seconds > limits.seconds
            if late:
                break
            found.append(states.expand(begin))
        if any(mesh.all(late)):
            return "unfinished", []
        states.advance(found)
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
