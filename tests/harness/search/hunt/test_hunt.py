"""The search finds what is there, says nothing where nothing is, and is the same whoever tries its plans."""

from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import pytest

from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import ROUND, Attempt
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import AskedWorkload
from tidemark.nodes.core.cluster import ClusterSpec


def hunt(variant, *names, profile="intact", seed=1):
    return Hunt(Attempt(variant, Quarry(names)), profile, ClusterSpec(), seed)


def first(variant, *names, rounds, **how):
    for progress in islice(hunt(variant, *names, **how).rounds(), rounds):
        if progress.found:
            return progress.found[0]
    return None


@pytest.mark.parametrize(
    ("variant", "name", "rounds"),
    [
        ("kafka-0.10", "lost-committed-write", 6),
        ("kafka-0.10", "divergence", 12),
        ("kafka-0.11", "divergence", 30),
        ("kafka-2.0", "strong-isr", 20),
    ],
)
def test_what_is_there_is_found_and_its_plan_shows_it_again(variant, name, rounds):
    found = first(variant, name, rounds=rounds)

    assert found is not None
    again = execute(found.plan, variant)
    assert again.digest == found.trial.digest
    assert name in {anomaly.name for anomaly in again.verdict.anomalies}


@pytest.mark.systems
def test_a_repaired_variant_shows_nothing():
    assert first("kafka-2.7", rounds=15) is None


def test_the_same_seed_is_the_same_search_whoever_tries_the_plans():
    alone = list(islice(hunt("kafka-0.11").rounds(), 4))
    with ProcessPoolExecutor(2) as pool:
        together = list(islice(hunt("kafka-0.11").rounds(pool.map), 4))

    assert alone == together
    assert alone[-1].tries == 4 * ROUND


def test_another_seed_is_another_search():
    assert next(hunt("kafka-0.11", seed=1).rounds()) != next(hunt("kafka-0.11", seed=2).rounds())


@pytest.mark.parametrize("profile", ["destructive", "retention-destructive", "reassignments", "deletions"])
def test_every_profile_can_be_hunted_in(profile):
    progress = list(islice(hunt("kafka-4.0", profile=profile).rounds(), 2))[-1]

    assert progress.tries == 2 * ROUND
    assert progress.marks > 10


def test_every_plan_has_the_clients_that_were_asked_for():
    asked = AskedWorkload(producers=3, rate=100, batch=2, duration=1.5)
    busy = Hunt(Attempt("kafka-2.7", Quarry(())), "intact", ClusterSpec(), 1, 8, asked=asked)

    for _ in islice(busy.rounds(), 3):
        pass

    plans = [entry.plan for entry in busy.corpus.entries()]
    assert plans
    assert {(plan.workload.producers, plan.workload.interval_us, plan.workload.batch) for plan in plans} == {
        (3, 10_000, 2)
    }
    assert {plan.faults_end_us for plan in plans} == {1_500_000}
