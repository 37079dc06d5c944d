"""Thaw, step, freeze: nothing is lost on the way, and what was frozen stays as it was."""

from random import Random

import pytest

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.broker_steps import BrokerSteps
from tidemark.harness.search.explore.frozen import Word, renamed_common, renamed_place
from tidemark.harness.search.explore.symmetry import Symmetry
from tidemark.harness.search.explore.world import World
from tidemark.nodes.core.roles import Role
from tidemark.nodes.core.variant import PRESETS, parse_variant

EVERYTHING = Bounds(brokers=3, records=3, epochs=4, crashes=2, lapses=2, unclean=True, late_answers=True)


def met_by_chance(variant, bounds, walks=12, depth=30, seed=1):
    """States along random walks."""
    world = World(parse_variant(variant), bounds, watch_fetching=True)
    noise = Random(seed)
    states = [world.first()]
    for _ in range(walks):
        state = world.first()
        for _ in range(depth):
            possible = world.successors(state)
            if not possible:
                break
            state = noise.choice(possible)[1]
            states.append(state)
    return world, list(dict.fromkeys(states))


@pytest.mark.parametrize("variant", PRESETS)
def test_a_broker_that_is_thawed_and_frozen_is_the_same(variant):
    world, _ = met_by_chance(variant, EVERYTHING)

    for place in world.places.values:
        if place.up:
            assert world.brokers.freeze(world.brokers.thaw(place), place.broker_epoch, place.unheard) == place


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-4.0"])
def test_a_controller_that_is_thawed_and_frozen_is_the_same(variant):
    world, _ = met_by_chance(variant, EVERYTHING)

    for common in world.commons.values:
        state = common.controller
        thawed = world.controllers.thaw(state)
        assert world.controllers._freeze(thawed, state.broker_epochs) == state


@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-3.7"])
def test_a_state_has_the_same_successors_whatever_was_done_with_it_before(variant):
    world, states = met_by_chance(variant, EVERYTHING)
    fresh = World(parse_variant(variant), EVERYTHING, watch_fetching=True)

    def as_values(of, state):
        return of.commons.values[state[0]], *(of.places.values[number] for number in state[1:])

    def again(state):
        common, *places = as_values(world, state)
        return (fresh.numbered_common(common), *(fresh.numbered_place(place) for place in places))

    for state in states[::-7]:
        before = as_values(world, state)
        here = [(move, as_values(world, then)) for move, then in world.successors(state)]
        there = [(move, as_values(fresh, then)) for move, then in fresh.successors(again(state))]
        assert here == there
        assert as_values(world, state) == before


def test_renaming_and_back_is_nothing(hand):
    place = hand.leader(1, (0, 1), 1, (1, 3), epoch=1, known={2: 1, 3: 2}, pending=((1, 1), (2, -1), (3, 1)))
    place = place._replace(unheard=(Word(2, 2, ()), Word(1, 3, (1, 2))))

    there = renamed_place(place, (2, 3, 1))

    assert there.node == 2
    assert there.replica.term.isr == (1, 2)
    assert there.replica.term.remotes == ((1, 2, -1), (3, 1, -1))
    assert there.unheard == (Word(3, 2, ()), Word(2, 3, (2, 3)))
    assert renamed_place(there, (3, 1, 2)) == place
    assert renamed_common(renamed_common(hand.common(leads=2, isr=(2, 3)), (2, 3, 1)), (3, 1, 2)) == hand.common(
        leads=2, isr=(2, 3)
    )


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.1", "kafka-4.0"])
def test_states_that_differ_in_names_only_are_one(variant):
    world, states = met_by_chance(variant, EVERYTHING)
    symmetry = Symmetry(world)

    for state in states[::5]:
        one = symmetry.canonical(state)
        assert symmetry.canonical(one) == one
        for names in ((2, 1, 3), (3, 1, 2), (3, 2, 1)):
            assert symmetry.canonical(symmetry.renamed(state, names)) == one


def test_where_a_broker_has_a_rule_of_its_own_names_matter():
    world, states = met_by_chance("kafka-2.1+truncation@2=kip101", EVERYTHING)
    symmetry = Symmetry(world)

    assert [state for state in states[::5] if symmetry.canonical(state) != state] == []


def test_renamed_states_have_renamed_successors():
    """Nothing in the core or in the moves prefers a broker for its number."""
    world, states = met_by_chance("kafka-3.7", EVERYTHING)
    symmetry = Symmetry(world)

    for state in states[::5]:
        other = symmetry.renamed(state, (2, 3, 1))
        here = {symmetry.canonical(then) for _, then in world.successors(state)}
        there = {symmetry.canonical(then) for _, then in world.successors(other)}
        assert here == there


def test_a_follower_is_told_once_of_a_reign_and_of_no_isr(hand):
    steps = BrokerSteps(parse_variant("kafka-3.7"), Bounds(brokers=3))
    place = hand.follower(2, (), 0)

    told = steps.told(place, Word(3, 1, (1, 2, 3)))
    assert told.unheard == (Word(3, 1, ()),)
    assert steps.told(told, Word(3, 1, (3,))) == told
    assert steps.told(told, Word(2, 2, (2, 3))).unheard == (Word(3, 1, ()), Word(2, 2, (2, 3)))


def test_a_fetch_at_the_end_of_the_log_brings_the_high_watermark(hand):
    steps = BrokerSteps(parse_variant("kafka-2.7"), Bounds(brokers=2))
    leads = hand.leader(1, (0,), 0, (1, 2))
    leads = leads._replace(replica=leads.replica._replace(term=leads.replica.term._replace(remotes=((2, 0, -1),))))

    follower, leader = steps.asks_leader(hand.follower(2, (0,), 0), leads)

    assert leader.replica.hw == 1
    assert leader.replica.term.remotes[0][:2] == (2, 1)
    assert follower.replica.hw == 1
    assert follower.replica.role is Role.FETCHING
