"""Scenes come in turn, whatever else seems to pay."""

from random import Random

import pytest

from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.arms import Arms, profiles_for
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.scenes import SCENES, who_plays
from tidemark.harness.search.hunt.sweep import EVERY, Sweep
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

KAFKA = family_of(parse_variant("kafka-4.0"))


def arms(*profiles):
    return Arms(profiles or profiles_for(KAFKA), ClusterSpec(), free=True, family=KAFKA)


@pytest.fixture
def drawn(monkeypatch):
    """Which scenes a sweep draws, in order, of so many tries."""
    names = []
    for name, scene in SCENES.items():

        def play(*how, name=name, scene=scene):
            names.append(name)
            return scene(*how)

        monkeypatch.setitem(SCENES, name, play)

    def draw(sweep, tries):
        names.clear()
        plans = [sweep.plan(Random(index), index) for index in range(tries)]
        assert sum(plan is not None for plan in plans) == len(names) == tries // EVERY
        return [*names]

    return draw


def test_each_scene_of_each_profile_comes_once_in_a_turn(drawn):
    playing = who_plays(arms()[profile].kinds for profile in arms().profiles())
    assert {"asked in vain", "fewer than min ISR", "led by who came", "alone, and then lost"} <= {*playing}
    assert "gaps at bookies" not in playing

    names = drawn(Sweep(arms(), 1), 2 * len(playing) * EVERY)
    one, other = names[: len(playing)], names[len(playing) :]
    assert sorted(one) == sorted(other) == sorted(playing)
    assert one != other


def test_the_order_is_the_seeds(drawn):
    assert drawn(Sweep(arms(), 1), 450) == drawn(Sweep(arms(), 1), 450) != drawn(Sweep(arms(), 2), 450)


def test_a_hunt_of_one_profile_has_its_scenes_only():
    assert "min ISR changed unheard" not in who_plays([Kinds("intact")])
    profiles = {Sweep(arms("settings"), 1).plan(Random(1), index).profile for index in range(3, 300, EVERY)}
    assert profiles == {"settings"}


def test_a_hunt_goes_on_in_the_turn_wherever_a_round_ends(drawn):
    def plans(size, rounds):
        hunt = Hunt(Attempt("kafka-4.0", Quarry()), "intact", ClusterSpec(), 1, size, free=True)
        hunt._sweep, seen = Sweep(arms("intact"), 1), []
        hunt._sweep.plan = lambda rng, index, plan=hunt._sweep.plan: seen.append(index) or plan(rng, index)
        for _ in range(rounds):
            hunt._draw()
        return seen

    assert plans(32, 2) == plans(16, 4) == [*range(64)]
