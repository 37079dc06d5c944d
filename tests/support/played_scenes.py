"""Scenes of a hunt, played in the simulator: their traces, the marks they come to, and what they show under a variant."""

from collections import Counter
from random import Random

from tidemark.checkers import check
from tidemark.checkers.marks import exercised
from tidemark.harness.search.hunt.episodes import with_faults
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.scenes import SCENES
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.families import family_of, parse_variant

MS = 1_000
PROFILES_OF_HUNTS = ("intact", "destructive", "retention", "reassignments")


def played(name, profile="destructive", variant="kafka-4.0", seeds=12, brokers=3, **settings):
    """The traces of a scene, played under several draws, beside its faults."""
    cluster = ClusterSpec(brokers=brokers, settings=Settings(**settings))
    for seed in range(seeds):
        faults = SCENES[name](Random(seed), Kinds(profile), cluster, 600 * MS)
        workload = WorkloadSpec(producers=2, interval_us=20 * MS)
        plan = with_faults(Plan(0, 0, seed, profile, cluster, workload, (), 0), faults)
        yield plan, simulate(plan, parse_variant(variant)).history


def marks(name, **how):
    return Counter(mark for _, history in played(name, **how) for mark in exercised(history.trace))


def shown_by(name, variant, cluster, seeds, profile="reassignments"):
    """How many draws of a scene violate something under a variant, by anomaly."""
    found = Counter()
    variant = parse_variant(variant) if isinstance(variant, str) else variant
    kinds = Kinds(profile, votes=family_of(variant).votes)
    for seed in range(seeds) if isinstance(seeds, int) else seeds:
        faults = SCENES[name](Random(seed), kinds, cluster, 600 * MS)
        workload = WorkloadSpec(producers=2, consumers=3, interval_us=20 * MS)
        plan = with_faults(Plan(0, 0, seed, profile, cluster, workload, (), 0), faults)
        verdict = check(simulate(plan, variant).history)
        found.update({one.name for one in verdict.anomalies if one.verdict == "violation"})
    return found
