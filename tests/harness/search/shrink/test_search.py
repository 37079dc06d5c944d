"""The best plan so far."""

from types import SimpleNamespace

import pytest

from tidemark.harness.search.shrink.search import Search


def test_a_smaller_plan_that_shows_it_is_taken(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault(), fault("pause")), lambda plan: bool(plan.faults))
    assert search.changed(faults=(fault(),))
    assert search.best == plan(fault())


def test_one_that_does_not_show_it_is_not(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault()), lambda plan: bool(plan.faults))
    assert not search.changed(faults=())
    assert search.best == plan(fault())


def test_one_that_is_no_smaller_is_not_even_judged(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault()), lambda _: True)
    assert not search.changed(faults=(fault(), fault()))
    assert not search.changed(noise_seed=3)
    assert search.judge.asked == []


def test_what_makes_no_plan_is_no_candidate(search_by_hand, plan, fault):
    search = search_by_hand(plan(fault(target="b3")), lambda _: True)
    assert not search.changed(faults_end_us=-1)
    assert not search.fault_changed(0, kind="no such kind")
    assert search.judge.asked == []


def test_patience_ends(search_by_hand, plan):
    search = search_by_hand(plan(), lambda _: True)
    with search.patiently(3), search.patiently(2):
        assert search.judge.patience == 6
    assert search.judge.patience == 1


def test_a_search_begins_with_what_shows_it(plan):
    with pytest.raises(ValueError, match="has not shown"):
        Search(SimpleNamespace(shown=None), plan())
