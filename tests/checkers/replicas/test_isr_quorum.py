"""By which ISR a leader goes, and by which the controller."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
START = [(5, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0), (10, 1, "lead", P, 1, 0, 0, (1, 2))]
ASKS = [(30, 1, "isr", P, (1, 2), (1, 2, 3), 0), (31, 0, "isr-change", P, (1, 2, 3), (), 1)]
HEARS = (32, 1, "isr", P, (1, 2, 3), (1, 2, 3), 1)


def narrow(*trace, **meta):
    """Leader, its maximal ISR and the controller's."""
    found = check(History.of(trace=[*START, *trace], **meta)).named("isr-quorum")
    assert all(one.verdict == "near-miss" for one in found)
    return [tuple(one.evidence[name] for name in ("leader", "maximal", "isr")) for one in found]


def test_a_leader_that_has_asked_for_a_member_counts_on_it_before_the_controller_does():
    assert narrow(*ASKS, HEARS) == []


def test_a_leader_that_shrinks_its_isr_before_the_controller_does():
    assert narrow(*ASKS, HEARS, (40, 1, "isr", P, (1, 2), (1, 2), 1)) == [(1, (1, 2), (1, 2, 3))]


def test_a_controller_that_takes_in_whom_the_leader_has_not_asked_for():
    assert narrow((20, 0, "isr-change", P, (1, 2, 3), (), 1), *ASKS) == [(1, (1, 2), (1, 2, 3))]


def test_the_controller_may_be_ahead_with_a_smaller_one():
    assert narrow(*ASKS, HEARS, (40, 0, "isr-change", P, (1, 2), (), 2)) == []


def test_a_leader_of_an_older_epoch_does_not_know():
    later = (20, 0, "elect", P, 2, 2, (2, 3), (), "online", True, 1)

    assert narrow(later, (21, 1, "isr", P, (1,), (1, 2), 0)) == []


def test_a_dead_leader_goes_by_nothing():
    assert narrow((20, 1, "stop", "", "crash"), (21, 0, "isr-change", P, (1, 2, 3), (), 1), *ASKS[:1]) == []


def test_leaders_without_a_maximal_isr_are_not_asked():
    assert narrow((20, 1, "isr", P, (1,), (1,), 1)) == []


def test_once_for_each_epoch():
    again = [(40, 1, "isr", P, (1, 2), (1, 2), 1), (41, 1, "isr", P, (1, 2, 3), (1, 2, 3), 1)]

    assert len(narrow(*ASKS, HEARS, *again, (42, 1, "isr", P, (1,), (1,), 1))) == 1


@pytest.mark.parametrize(("lasts_us", "found"), [(1_000_000, 0), (3_000_000, 1)])
def test_clocks_of_several_machines_have_two_seconds(lasts_us, found):
    shrinks, grows = (40, 1, "isr", P, (1, 2), (1, 2), 1), (40 + lasts_us, 1, "isr", P, (1, 2, 3), (1, 2, 3), 1)

    assert len(narrow(*ASKS, HEARS, shrinks, grows, world="docker")) == found
