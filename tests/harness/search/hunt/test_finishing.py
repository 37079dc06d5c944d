"""What comes near is gone on from, the same up to its moment; what always comes near is left alone."""

from itertools import islice

import pytest

from tidemark.checkers.marks import MARKS
from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.finishing import HAZARDS, Finishing, Near, continuations
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

PLAN = generate_plan(3, 7, "destructive", ClusterSpec())
AT_US = 2_000_000


def near(sort="strong-isr (isr-change)", at_us=AT_US):
    return Near("strong-isr", sort, at_us, 0)


def test_a_continuation_is_the_same_run_up_to_the_moment():
    variant = parse_variant("kafka-4.0")
    plans = continuations(PLAN, near(), Kinds("destructive"))
    before = [event for event in simulate(PLAN, variant).history.trace if event[0] <= AT_US]

    assert len(plans) > 40
    for plan in plans[::9]:
        trace = simulate(plan, variant).history.trace
        assert [event for event in trace if event[0] <= AT_US] == before
        assert plan.faults[-1].at_us > AT_US


@pytest.mark.parametrize(("profile", "has"), [("intact", False), ("destructive", True)])
def test_only_what_the_profile_has_may_follow(profile, has):
    plans = continuations(PLAN, near(), Kinds(profile))
    kinds = {fault.kind for plan in plans for fault in plan.faults if fault.at_us > AT_US}

    assert {"forced-election", "crash", "restart", "from-peers"} <= kinds
    assert ("power" in kinds, "unclean-election" in kinds) == (has, has)


def test_of_a_sort_ever_fewer_are_gone_on_from():
    finishing = Finishing()
    for number in range(1, 30):
        finishing.see(PLAN, near(), number)
    finishing.see(PLAN, near("isr-quorum (isr)"), 40)

    assert sorted(one.number for one in finishing.unfinished) == [1, 3, 9, 27, 40]
    assert [one.number for one in finishing.unfinished[:2]] == [1, 40], "a new sort comes first"


@pytest.mark.systems
def test_a_hazard_is_gone_on_from_though_it_is_no_near_miss():
    """A leader that goes on over a cut: somebody has to be elected yet, and perhaps something lost."""
    hunt = Hunt(Attempt("kafka-4.0", Quarry()), "intact", ClusterSpec(), 1)
    for _ in islice(hunt.rounds(), 20):
        pass

    assert set(HAZARDS) <= set(MARKS)
    assert set(hunt.finishing.seen) & set(HAZARDS)


def test_what_vanishes_without_what_is_known_becomes_familiar():
    finishing = Finishing()
    finishing.vanished["strong-isr (hw)"] = 6
    finishing.seen["weak-isr (elect)"] = 6
    finishing.seen["strong-isr (lead)"] = 2

    assert finishing.familiar() == {"strong-isr (hw)": True, "weak-isr (elect)": False}


def test_the_rest_is_kept_and_restored():
    finishing, again = Finishing(), Finishing()
    finishing.see(PLAN, near(), 5)
    taken = finishing.take(lambda _: Kinds("destructive"))
    again.restore(finishing.to_json())

    assert taken is not None
    assert again.to_json() == finishing.to_json()
    assert again.take(lambda _: Kinds("destructive")) == finishing.take(lambda _: Kinds("destructive"))


@pytest.mark.systems
def test_a_hunt_makes_losses_of_near_misses():
    hunt = Hunt(Attempt("kafka-0.11", Quarry(("lost-committed-write",))), "intact", ClusterSpec(), 1)
    found = [one for progress in islice(hunt.rounds(), 20) for one in progress.found]

    made = [one for one in found if one.made_of]
    assert made
    assert all(" of try " in one.made_of for one in made)
    assert all(int(one.made_of.split()[-1]) < one.number for one in made)
