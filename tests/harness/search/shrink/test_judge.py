"""Whether a candidate shows it, by several replays."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tidemark.checkers import History, Verdict
from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.search.shrink.budget import Budget, BudgetSpentError
from tidemark.harness.search.shrink.cause import Cause
from tidemark.harness.search.shrink.judge import DELAYS_US, Judge, noises_of

SENTENCE = "The logs of 3 brokers differ."
TARGET = Cause("odd", "violation", None, ("The logs of N brokers differ.",))


def run_showing(*anomalies):
    found = [Anomaly(name, verdict, 1, "t-0", message) for name, verdict, message in anomalies]
    return SimpleNamespace(verdict=Verdict("invalid", "documented", tuple(found), None, {}), history=History.of())


SHOWS = run_showing(("odd", "violation", SENTENCE))
SHOWS_NOTHING = run_showing()


@pytest.fixture
def judge():
    """One that finds the anomaly in runs of plans of which the predicate holds; `ran` lists what was replayed."""

    def judge(predicate, noises=4, most=100):
        def run(plan):
            ran.append(plan)
            return SHOWS if predicate(plan) else SHOWS_NOTHING

        ran = []
        made = Judge(run, TARGET, Budget(most), noises)
        made.ran = ran
        return made

    return judge


def test_the_plans_own_noise_comes_first_and_is_enough(judge, plan):
    all_do = judge(lambda _: True)
    assert all_do.shows(plan()) == plan()
    assert len(all_do.ran) == 1
    assert all_do.shown[0].message == SENTENCE


def test_any_noise_counts_and_is_kept(judge, plan):
    lucky = judge(lambda plan: plan.noise_seed == 2)
    assert lucky.shows(plan()) == replace(plan(), noise_seed=2)
    assert [one.noise_seed for one in lucky.ran] == [7, 0, 1, 2]


def test_after_so_many_noises_it_does_not_show(judge, plan):
    unlucky = judge(lambda plan: plan.noise_seed == 2, noises=3)
    assert unlucky.shows(plan()) is None
    assert len(unlucky.ran) == 3


def test_what_is_known_is_not_replayed_and_patience_goes_on_where_it_stopped(judge, plan):
    one = judge(lambda plan: plan.noise_seed == 5, noises=3)
    assert [one.shows(plan()), one.shows(plan())] == [None, None]
    assert (len(one.ran), one.candidates) == (3, 1)
    one.patience = 3
    assert one.shows(plan()) == replace(plan(), noise_seed=5)
    assert [run.noise_seed for run in one.ran] == [7, 0, 1, 2, 3, 4, 5]
    assert one.candidates == 1


@pytest.mark.parametrize(
    "other",
    [
        ("odd", "violation", "The logs of 3 brokers are gone."),
        ("odd", "permitted", SENTENCE),
        ("strange", "violation", SENTENCE),
    ],
)
def test_another_cause_verdict_or_name_is_not_the_same(other, plan):
    assert Judge(lambda _: run_showing(other), TARGET, Budget(100), 4).shows(plan()) is None


def test_numbers_are_not_part_of_a_cause(plan):
    run = run_showing(("odd", "violation", "The logs of 12 brokers differ."))
    assert Judge(lambda _: run, TARGET, Budget(1), 1).shows(plan()) is not None


def test_where_delays_are_fixed_others_are_tried_and_seeds_only_with_chance(plan, fault):
    steady = plan(fault(), fixed_delay_us=1_000)
    assert [(one.fixed_delay_us, one.noise_seed) for one in noises_of(steady, 3)] == [(1_000, 7), (500, 7), (2_000, 7)]
    lossy = plan(fault("lossy", amount=500), fixed_delay_us=1_000)
    assert [(one.fixed_delay_us, one.noise_seed) for one in noises_of(lossy, 4)] == [
        (1_000, 7), (500, 7), (1_000, 0), (2_000, 7),
    ]  # fmt: skip


def test_no_noise_is_tried_twice(plan):
    for seed in (0, 2, 7):
        noises = list(noises_of(replace(plan(), noise_seed=seed), 5))
        assert len({one.noise_seed for one in noises}) == 5
    assert len({one.fixed_delay_us for one in noises_of(plan(fixed_delay_us=500), 99)}) == len(DELAYS_US)


def test_replays_are_counted_and_end(judge, plan):
    poor = judge(lambda _: False, noises=4, most=2)
    with pytest.raises(BudgetSpentError):
        poor.shows(plan())
    assert poor.budget.replays == 2


def test_seconds_end_too():
    with pytest.raises(BudgetSpentError):
        Budget(100, seconds=0).spend()
