"""Leaders that lead on though nobody could answer them."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

BOUND = 2 * 10 + 3 * 1
META = {
    "isr": False,
    "contract": "majority",
    "replicas": {"t-0": [1, 2, 3, 4, 5]},
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
ASKS, LEADS = (1, 2, "pre-vote", "t-0", 1, 1), (3, 1, "lead", "t-0", 1, 0, 0, ())


def found(*trace, nemesis=(), end=10 + BOUND + 1, **meta):
    trace = sorted([ASKS, LEADS, *trace])
    told = check(History.of(trace=trace, nemesis=nemesis, end_us=end, **{**META, **meta})).anomalies
    return [(one.evidence["since"], one.evidence["until"]) for one in told if one.name == "leads-unheard"]


def away(*nodes, at=10, kind="from-peers"):
    return [(at, "strike", index, kind, {"node": node}) for index, node in enumerate(nodes)]


@pytest.mark.parametrize("kind", ["isolate", "from-peers", "one-way-in", "one-way-out"])
def test_a_leader_that_is_cut_off_makes_way_in_time(kind):
    assert found(nemesis=away(1, kind=kind)) == [(10, 11 + BOUND)]
    assert found(nemesis=away(1, kind=kind), end=10 + BOUND) == []


def test_with_a_majority_it_leads_on_and_one_that_answers_is_none():
    assert found(nemesis=away(2, 3)) == []
    assert found(nemesis=away(2, 3, 4)) == [(10, 11 + BOUND)]


def test_who_has_no_process_or_a_paused_one_answers_nobody():
    gone = [(10, 2, "stop", "", "crash"), (10, 3, "pause", "")]

    assert found(*gone, nemesis=away(4)) == [(10, 11 + BOUND)]
    assert found(*gone, (20, 3, "resume", ""), nemesis=away(4)) == []
    assert found(*gone, (20, 2, "start", "", 2), nemesis=away(4)) == []


@pytest.mark.parametrize(
    "after",
    [(20, 1, "follow", "t-0", 1, -1, 0, 0), (20, 1, "stop", "", "crash"), (20, 1, "pause", "")],
    ids=["resigns", "ends", "is-paused"],
)
def test_who_does_not_lead_any_more_or_is_paused_is_not_judged(after):
    assert found(after, nemesis=away(1)) == []


def test_the_time_begins_anew_when_a_fault_is_healed_or_another_reign_begins():
    healed = [*away(1), (20, "heal", 0, "from-peers", {}), (21, "strike", 1, "from-peers", {"node": 1})]

    assert found(nemesis=healed) == []
    assert found(nemesis=[*away(1), (20, "heal", -1, "all", {})]) == []
    assert found((20, 1, "lead", "t-0", 2, 0, 0, ()), nemesis=away(1)) == []


def test_other_faults_may_let_an_answer_through():
    assert found(nemesis=away(1, kind="slow")) == []
    assert found(nemesis=away(1, kind="from-clients")) == []


def test_only_where_servers_ask_before_they_stand_in_a_group_that_stays_and_by_one_clock():
    history = History.of(trace=[LEADS], nemesis=away(1), end_us=100, **META)
    assert not check(history).named("leads-unheard")

    assert found((5, 1, "members", "t-0", (1, 2, 3, 4), 0, 1, False), nemesis=away(1)) == []
    assert found(nemesis=away(1), world="docker") == []
