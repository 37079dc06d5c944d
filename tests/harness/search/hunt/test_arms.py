"""Profiles are drawn by what they yield, and none is given up."""

from collections import Counter
from random import Random

from tidemark.harness.search.hunt.arms import Arms, profiles_for
from tidemark.harness.search.hunt.reach import never_reached
from tidemark.nemesis import REAL_ONLY
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

LATER = 10_000
KAFKA, RAFT = (family_of(parse_variant(name)) for name in ("kafka-4.0", "raft"))


def arms(*profiles):
    return Arms(profiles, ClusterSpec(), free=True, family=KAFKA)


def test_what_yields_more_is_drawn_more_and_nothing_is_given_up():
    drawn = arms("intact", "destructive", "deletions")
    for profile, gain in (("intact", 9.0), ("destructive", 1.0), ("deletions", 0.0)):
        drawn.learn(profile, gain, 1_000)
    times = Counter(drawn.draw(Random(seed), LATER).kinds.profile for seed in range(600))

    assert times["intact"] > 2 * times["destructive"]
    assert min(times.values()) > 30


def test_each_is_tried_once_before_any_is_preferred():
    drawn = arms("intact", "destructive")
    drawn.learn("intact", 9.0, 10)

    assert {drawn.draw(Random(seed), LATER).kinds.profile for seed in range(20)} == {"destructive"}


def test_a_hunt_begins_with_what_all_have_and_with_little_else():
    drawn = arms("intact", "destructive", "deletions")
    times = Counter(drawn.draw(Random(seed), 0).kinds.profile for seed in range(400))

    assert 260 < times["intact"] < 370
    assert min(times["destructive"], times["deletions"]) > 20


def test_a_family_has_the_profiles_that_it_can_bear():
    kafka, raft = profiles_for(KAFKA), profiles_for(RAFT)

    assert {"intact", "destructive", "controllers", "retention", "reassignments"} <= set(kafka)
    assert "machines" not in kafka, "it is not simulated"
    assert "controller-links" not in kafka, "every hunt has all of it"
    assert not {"deletions", "retention", "controllers"} & set(raft)
    assert not REAL_ONLY & arms(*kafka).kinds()


def test_what_no_profile_can_reach_is_not_told():
    kinds = arms("intact").kinds()
    never = never_reached({}, {"crash"}, kinds, KAFKA)

    assert "leader-stopped" in never.marks
    assert not {"deleted", "reassigned", "elected-from-outside", "log-lost"} & set(never.marks)
    assert "pause" in never.kinds
    assert not {"crash", "power", "delete-records"} & set(never.kinds)
