"""Whole levels at once come to what one state after the other comes to."""

import numpy as np
import pytest

from tidemark.harness.search.explore import states
from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.fingerprints import Fingerprints
from tidemark.harness.search.explore.invariants import Checks
from tidemark.harness.search.explore.level import Levels
from tidemark.harness.search.explore.runs import Runs
from tidemark.harness.search.explore.search import Limits, explore, make_world
from tidemark.harness.search.explore.symmetry import Symmetry
from tidemark.harness.search.explore.table import Table
from tidemark.harness.search.explore.words import told
from tidemark.nodes.core.variant import parse_variant

SPACES = [
    ("kafka-2.1", Bounds(brokers=2), ("WeakIsr", "StrongIsr", "LogMatchingHw")),
    ("kafka-2.7", Bounds(brokers=2, records=1, crashes=1, lapses=1, leadership="late"), ("LeaderCompleteness",)),
    ("kafka-4.0", Bounds(brokers=2, records=1, crashes=1, lapses=1), ("StrongIsr", "LeaderCompleteness")),
    ("kafka-3.7", Bounds(brokers=3, records=1, epochs=2), ("FollowerPrefix", "StrongIsr")),
    ("kafka-2.7", Bounds(brokers=2, records=2, epochs=2, unclean=True, late_answers=True), ("OneLeader",)),
    ("kafka-2.1", Bounds(brokers=3, records=1, epochs=2, lapses=1, leadership="at-once"), ("HwInLog",)),
    ("kafka-2.1+truncation@2=kip101", Bounds(brokers=2, records=1), ("HwInLog",)),
]


LONG = (1, 2, 3, 5)
"""Places of those whose states take seconds."""


def one_by_one(variant, bounds, invariants):
    """States, moves and levels of a space in which everything holds; for one in which it does not, the length of the way there."""
    world = make_world(variant, bounds, invariants)
    symmetry, checks = Symmetry(world), Checks(world, invariants)
    level = [symmetry.canonical(world.first())]
    seen, moves, depth = set(level), 0, 0
    while level:
        found = []
        for state in level:
            for _, reached in world.successors(state):
                moves += 1
                then = symmetry.canonical(reached)
                if then not in seen:
                    seen.add(then)
                    found.append(then)
                    if checks.broken(then):
                        return "broken", depth + 1
        depth += bool(found)
        level = found
    return "holds", len(seen), moves, depth


@pytest.mark.parametrize(
    ("name", "bounds", "invariants"),
    [pytest.param(*space, marks=[pytest.mark.systems] if place in LONG else ()) for place, space in enumerate(SPACES)],
)
def test_states_moves_and_levels_are_those_of_one_state_after_the_other(monkeypatch, name, bounds, invariants):
    monkeypatch.setattr(states, "AT_ONCE", 200)
    variant = parse_variant(name)

    found = explore(variant, bounds, invariants)

    came_to = (
        ("broken", found.depth)
        if found.outcome == "broken"
        else (found.outcome, found.states, found.moves, found.depth)
    )
    assert came_to == one_by_one(variant, bounds, invariants)


@pytest.mark.parametrize(("name", "bounds", "invariants"), SPACES)
def test_moves_are_the_same_in_the_same_order(name, bounds, invariants):
    world = make_world(parse_variant(name), bounds, invariants)
    levels, level = Levels(world), [world.first()]
    for _ in range(6):
        expected = [(number, then) for number, state in enumerate(level) for _, then in world.successors(state)]
        found = levels.successors(np.array(level))
        order = np.lexsort((found.slot, found.origin))
        assert list(zip(found.origin[order].tolist(), map(tuple, found.rows[order].tolist()), strict=True)) == expected
        level = list(dict.fromkeys(then for _, then in expected))[:500]


@pytest.mark.parametrize("at_once", [7, 100_000])
def test_how_many_are_expanded_at_once_changes_nothing(monkeypatch, at_once):
    variant, bounds = parse_variant("kafka-2.1+truncation=hw"), Bounds(brokers=3, records=1, epochs=2)
    usual = explore(variant, bounds, ("StrongIsr",))
    monkeypatch.setattr(states, "AT_ONCE", at_once)

    found = explore(variant, bounds, ("StrongIsr",))

    assert (found.states, found.moves, told(found)) == (usual.states, usual.moves, told(usual))


def test_a_search_gives_up_at_the_end_of_the_level_that_has_a_state_too_many():
    variant, bounds = parse_variant("kafka-2.1"), Bounds(brokers=2)
    sizes = [explore(variant, bounds, ("StrongIsr",), Limits(states=states)) for states in (0, 100, 1_000)]

    for found, limit in zip(sizes, (0, 100, 1_000), strict=True):
        assert found.outcome == "unfinished"
        assert found.states > limit
        assert explore(variant, bounds, ("StrongIsr",), Limits(states=found.states - 1)).depth == found.depth


def test_renamed_clusters_have_one_fingerprint():
    world = make_world(parse_variant("kafka-2.7"), Bounds(), ())
    met, prints, symmetry = [world.first()], Fingerprints(world), Symmetry(world)
    for _ in range(3):
        met = [then for state in met for _, then in world.successors(state)]
    for names in ((2, 3, 1), (3, 2, 1)):
        renamed = [symmetry.renamed(state, names) for state in met]
        assert prints.canonical(np.array(renamed))[1].tolist() == prints.canonical(np.array(met))[1].tolist()
        assert prints.of(np.array(renamed)).tolist() != prints.of(np.array(met)).tolist()


def test_fingerprints_do_not_depend_on_what_was_met_before():
    one, other = (make_world(parse_variant("kafka-2.7"), Bounds(), ()) for _ in range(2))
    other.successors(other.successors(other.first())[-1][1])  # numbers its places in another order
    then = [one.successors(one.first())[0][1], other.successors(other.first())[0][1]]

    prints = [
        Fingerprints(world).canonical(np.array([state]))[1][0] for world, state in zip((one, other), then, strict=True)
    ]

    assert prints[0] == prints[1]


def test_a_table_works_each_key_out_once_and_gives_its_rows_in_order():
    asked = []

    def work(one, other):
        asked.append((one, other))
        return [(one, other)] * one

    table = Table(2, work)
    for _ in range(2):
        rows = table.rows(np.array([2, 0, 1, 2]), np.array([5, 5, 7, 5]))
        assert rows.which.tolist() == [0, 0, 2, 3, 3]
        assert rows.nth.tolist() == [0, 1, 0, 0, 1]
        assert rows.values.tolist() == [[2, 5], [2, 5], [1, 7], [2, 5], [2, 5]]

    assert sorted(asked) == [(0, 5), (1, 7), (2, 5)]


def test_runs_have_what_was_put_in():
    runs = Runs()
    for begin in range(0, 1000, 10):
        runs.add(np.arange(begin, begin + 10, 2, dtype=np.uint64))

    assert runs.have(np.array([0, 1, 998, 999, 2**63], np.uint64)).tolist() == [True, False, True, False, False]
    assert len(runs) == 500
