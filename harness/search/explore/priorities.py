"""Beyond the bound: random walks with priorities.

Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): whoever has the highest priority
moves, and at a few random places in the walk it falls behind all others. A bug that needs few such changes is met with a
probability that does not vanish with the length of the walk.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import monotonic, process_time

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.invariants import Checks
from tidemark.harness.search.explore.moves import Kind, Move
from tidemark.harness.search.explore.search import Found, make_world
from tidemark.harness.search.explore.symmetry import Symmetry
from tidemark.harness.search.explore.world import State
from tidemark.nodes.core.variant import Variant

CHANGES = 4
"""Places in a walk at which whoever moves falls behind."""
CONTROLLER_MOVES = frozenset({Kind.ELECT, Kind.ELECT_UNCLEAN, Kind.LAPSE, Kind.RETURN})
FAULTS = frozenset({Kind.CRASH, Kind.START})


def walk(
    variant: Variant,
    bounds: Bounds,
    invariants: tuple[str, ...],
    *,
    walks: int,
    depth: int,
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> Found:
    """Walk through the states within the bounds, and look at each.

    Args:
        variant: the protocol.
        bounds: what may happen.
        invariants: names, looked at in this order.
        walks: how many.
        depth: moves in each.
        seed: of all that is random.
        progress: told (states, walks, seconds) now and then.

    Returns:
        ``broken`` by the first walk that breaks something, with its way, which need not be a shortest one; else ``unfinished``.
    """
    began, cpu = monotonic(), process_time()
    world = make_world(variant, bounds, invariants)
    symmetry, checks = Symmetry(world), Checks(world, invariants)
    seen: set[State] = set()
    moves = 0
    for number in range(walks):
        noise = Random(f"{seed}/{number}")
        priorities: dict[tuple[str, int], float] = {}
        changes = {noise.randrange(depth) for _ in range(CHANGES)}
        state = first = world.first()
        steps: list[tuple[Move, State]] = []
        for place in range(depth):
            possible = world.successors(state)
            if not possible:
                break
            for move, _ in possible:
                if _actor(move) not in priorities:
                    priorities[_actor(move)] = noise.random()
            actor = max((_actor(move) for move, _ in possible), key=priorities.__getitem__)
            step = noise.choice([(move, then) for move, then in possible if _actor(move) == actor])
            if place in changes:
                priorities[actor] = -noise.random()
            steps.append(step)
            state = step[1]
            moves += 1
            canonical = symmetry.canonical(state)
            if canonical in seen:
                continue
            seen.add(canonical)
            if wrong := checks.broken(state):
                found = Found(
                    "broken",
                    world,
                    len(seen),
                    moves,
                    depth,
                    monotonic() - began,
                    process_time() - cpu,
                    world.worked_out(),
                    *wrong,
                )
                found.first, found.steps, found.shortest = first, steps, False
                return found
        if progress is not None and not number % 64:
            progress(len(seen), number, monotonic() - began)
    return Found(
        "unfinished", world, len(seen), moves, depth, monotonic() - began, process_time() - cpu, world.worked_out()
    )


def _actor(move: Move) -> tuple[str, int]:
    """Who makes a move: a broker as follower, as leader or as listener; the controller about a broker; misfortune."""
    kind = move.kind
    if kind in CONTROLLER_MOVES:
        return "controller", move.broker
    if kind in FAULTS:
        return "faults", 0
    if kind is Kind.HEAR:
        return "hear", move.broker
    if kind in (Kind.APPEND, Kind.SHRINK, Kind.DECIDE, Kind.DECIDE_UNHEARD):
        return kind.value, move.broker
    return "follower", move.broker
