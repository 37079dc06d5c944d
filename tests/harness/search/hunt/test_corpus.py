"""What the corpus keeps, and what it gives."""

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.circumstances import Circumstances
from tidemark.harness.search.hunt.corpus import KEPT, Corpus
from tidemark.harness.search.hunt.episodes import episode
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.trial import Trial
from tidemark.nodes.core.cluster import ClusterSpec

INTACT = Kinds("intact")
AS_ASKED = Circumstances(ClusterSpec(), "intact", free=False)


def plan(seed=1):
    return episode(Random(seed), INTACT, AS_ASKED)


def with_faults(count):
    one = plan()
    return replace(one, faults=one.faults[:1] * count)


def reached(*names, events=0):
    return Trial(dict.fromkeys(names, 1_000), None, "valid", "", events=events)


def test_the_cheapest_plans_of_a_mark_are_kept():
    corpus = Corpus()
    for count in (7, 3, 6, 5, 4, 2, 8):
        corpus.add(with_faults(count), reached("two-lead", events=1_000 - count))

    assert sorted(len(entry.plan.faults) for entry in corpus.entries()) == [5, 6, 7, 8]
    assert len(corpus) == KEPT


def test_new_marks_are_told_once():
    corpus = Corpus()

    assert corpus.add(plan(1), reached("a", "b")) == ["a", "b"]
    assert corpus.add(plan(2), reached("a", "c")) == ["c"]


def test_what_is_rare_or_near_is_taken_more_often():
    corpus = Corpus()
    for seed in range(99):
        corpus.add(plan(seed), reached("common"))
    rare, near = with_faults(2), with_faults(3)
    corpus.add(rare, reached("rare"))
    for _ in range(50):
        corpus.add(near, reached("near:strong-isr"))
    rng = Random(1)
    taken = [corpus.take(rng, near.profile)[0].plan for _ in range(400)]

    assert taken.count(rare) > 80
    assert taken.count(near) > 80


def test_a_profile_whose_plans_reached_nothing_has_none_to_change():
    corpus = Corpus()
    corpus.add(replace(plan(1), profile="retention"), reached())
    assert not corpus.best
    corpus.add(plan(2), reached("two-lead"))

    assert {corpus.take(Random(seed), "retention")[0].plan.profile for seed in range(20)} == {"intact"}


def test_plans_of_each_profile_are_kept_and_taken_by_themselves():
    corpus = Corpus()
    smallest, of_another = with_faults(1), replace(with_faults(9), profile="deletions")
    for _ in range(KEPT + 1):
        corpus.add(smallest, reached("two-lead"))
    corpus.add(of_another, reached("two-lead"))
    rng = Random(1)

    assert {corpus.take(rng, "deletions")[0].plan for _ in range(20)} == {of_another}
    assert {corpus.take(rng, smallest.profile)[0].plan for _ in range(20)} == {smallest}
