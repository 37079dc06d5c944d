"""A hunt's scenes are situations in which replication is known to break: where a bug is put back, one of few plans shows it."""

from random import Random

import pytest

from tidemark.harness.search.hunt.circumstances import Circumstances
from tidemark.harness.search.hunt.episodes import BEGIN_US, with_faults
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.scenes import SCENES
from tidemark.harness.zoo import find
from tidemark.harness.zoo.detect import tries_of
from tidemark.nemesis import Plan

TRIES = 150
"""The rarest of these come once in 20."""


def plans(name, profile, cluster):
    kinds, circumstances = Kinds(profile), Circumstances(cluster, profile, free=False)
    for seed in range(TRIES):
        rng = Random(seed)
        shape = circumstances.cluster(rng)
        faults = SCENES[name](rng, kinds, shape, BEGIN_US)
        plan = Plan(0, 0, rng.randrange(1 << 48), profile, shape, circumstances.workload(rng, shape), (), 0)
        yield with_faults(plan, faults)


@pytest.mark.parametrize(
    ("key", "name", "profile"),
    [
        ("missed-reign", "leads again unaware", "intact"),
        ("KAFKA-6880", "follows on unaware", "intact"),
        ("KAFKA-7786", "answered late", "intact"),
        ("KAFKA-15583", "alone, and then lost", "destructive"),
        ("KIP-966", "alone, and then lost", "destructive"),
        ("forgotten-log-start", "deleted while one is away", "deletions"),
        ("KAFKA-5634", "retention without followers", "retention"),
        ("KAFKA-8306", "deleted before the power goes", "retention-destructive"),
        ("KAFKA-9491", "back as all is deleted", "deletions"),
        ("KAFKA-14424", "moved from the last one there", "reassignments"),
        ("KAFKA-15665", "moved from the last one there", "reassignments-destructive"),
    ],
)
def test_a_scene_shows_the_bug_and_the_repaired_variant_is_free_of_it(key, name, profile):
    entry = find(key)
    tried = tries_of(entry)

    assert any(tried(plan).caught for plan in plans(name, profile, entry.cluster_spec()))
