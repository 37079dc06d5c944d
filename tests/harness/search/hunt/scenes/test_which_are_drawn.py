"""Which scenes are drawn: those of the profile and of the family, with no faults but theirs, and at any moment."""

from collections import Counter
from random import Random

import pytest
from played_scenes import MS, PROFILES_OF_HUNTS

from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.scenes import SCENES, some_scene
from tidemark.nemesis import PROFILES, cluster_of_plans
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

SOON_US = 1_000


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("profile", PROFILES_OF_HUNTS)
def test_a_scene_has_the_faults_of_its_profile(name, profile):
    for seed in range(60):
        faults = SCENES[name](Random(seed), Kinds(profile), ClusterSpec(), 600 * MS)
        assert {fault.kind for fault in faults} <= Kinds(profile).known
        assert len(faults) <= 7


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profiles_own_scenes_are_among_those_that_are_drawn(profile):
    """Deletions where records are deleted, moves where replicas move; elsewhere neither."""
    kinds, cluster = Kinds(profile), cluster_of_plans(profile, ClusterSpec())
    rng = Random(5)
    drawn = {fault.kind for _ in range(200) for fault in some_scene(rng, kinds, cluster, 600 * MS)}

    assert ("delete-records" in drawn) == ("delete-records" in PROFILES[profile])
    assert ("reassignment" in drawn) == ("reassignment" in PROFILES[profile])


@pytest.mark.parametrize(
    ("scenes", "whose"),
    [
        (("deposed, and does not know", "each writes alone", "voters come back, and vote"), "votes"),
        (("gaps at bookies", "a fence is lost", "recovered without one"), "ledgers"),
    ],
)
def test_scenes_of_voters_and_of_bookies_are_theirs_alone(monkeypatch, scenes, whose):
    drawn = Counter()
    for name in scenes:
        monkeypatch.setitem(SCENES, name, lambda *_, name=name: drawn.update([name]) or [])
    for seed in range(300):
        some_scene(Random(seed), Kinds("intact"), ClusterSpec(), 600 * MS)
    assert not drawn

    for seed in range(300):
        some_scene(Random(seed), Kinds("intact", **{whose: True}), ClusterSpec(), 600 * MS)
    assert drawn.keys() == {*scenes}


@pytest.mark.parametrize("whose", ["votes", "ledgers"])
def test_where_there_is_no_isr_no_scene_is_about_it(monkeypatch, whose):
    drawn = Counter()
    monkeypatch.setitem(SCENES, "ISR in doubt", lambda *_: drawn.update(["drawn"]) or [])
    for seed in range(300):
        some_scene(Random(seed), Kinds("intact", **{whose: True}), ClusterSpec(), 600 * MS)
    assert not drawn

    for seed in range(300):
        some_scene(Random(seed), Kinds("intact"), ClusterSpec(), 600 * MS)
    assert drawn


@pytest.mark.parametrize("variant", ["kafka-2.7", "kafka-4.0", "raft+pre-vote+membership-change", "bookkeeper"])
def test_a_scene_may_be_played_at_any_moment(variant):
    """What it has before the beginning comes at the beginning."""
    family = family_of(parse_variant(variant))
    rng, cluster = Random(5), ClusterSpec()
    for name in PROFILES:
        kinds = Kinds(name, votes=family.votes, ledgers=family.store is not None)
        for _ in range(40):
            assert all(fault.at_us >= 0 for fault in some_scene(rng, kinds, cluster, SOON_US))
