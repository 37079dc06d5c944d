"""A caught plan is changed until what it shows does not rest on luck."""

import pytest

from tidemark.harness.search.sturdier import NOISES, sturdier
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

S = 1_000 * MS


@pytest.fixture
def lucky():
    """A plan whose pause is so short that it matters under noise 0 only, with two faults that have nothing to do with it."""
    faults = (
        Fault("slow", S, S // 2, "b3", amount=10_000),
        Fault("pause", 2 * S, S // 5, "b2"),
        Fault("lossy", 3 * S, S // 2, "b1", amount=100),
    )
    return Plan(7, 1, 0, "intact", ClusterSpec(), WorkloadSpec(), faults, 4 * S)


def pauses_long(plan):
    """The longer, under the more noises."""
    longest = max((fault.lasts_us for fault in plan.faults if fault.kind == "pause"), default=0)
    return longest * 10 > (plan.noise_seed + 1) * S


def test_it_is_shown_under_every_noise_in_the_end_and_has_nothing_beside_it(lucky):
    assert pauses_long(lucky)

    found = sturdier(lucky, pauses_long)

    assert found.shown == NOISES
    assert [fault.kind for fault in found.plan.faults] == ["pause"]
    assert found.plan.faults[0].at_us + found.plan.faults[0].lasts_us <= found.plan.faults_end_us


def test_the_same_plan_gives_the_same(lucky):
    assert sturdier(lucky, pauses_long) == sturdier(lucky, pauses_long)


def test_each_step_is_told_and_none_goes_back(lucky):
    told = []
    found = sturdier(lucky, pauses_long, tell=told.append)

    assert [one.shown for one in told] == sorted(one.shown for one in told)
    assert told[-1] == found


def test_what_cannot_be_made_sturdier_stays_what_it_is(lucky):
    found = sturdier(lucky, lambda plan: plan.noise_seed == 0 and plan.faults == lucky.faults)

    assert (found.plan, found.shown) == (lucky, 1)


def test_it_is_shown_at_every_pace(lucky):
    def soon_enough(plan):
        return any(fault.kind == "pause" and fault.at_us <= 5 * S for fault in plan.faults)

    found = sturdier(lucky, soon_enough, (1.0, 4.0))

    assert found.shown == NOISES
    assert found.plan.faults[0].at_us * 4 <= 5 * S
