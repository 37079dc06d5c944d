"""A high watermark that stands still: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

ADVANCE, LAG = 13, 15
K = "t-0"
META = {"replicas": {K: [1, 2, 3]}, "min_isr": 2, "times": dict(zip(TIMES, (10, 2, 1, LAG, 5, 2, 15), strict=True))}
BEGIN = [
    (0, 0, "elect", K, 1, 0, (1, 2, 3), (), "initial", True, 0),
    (0, 1, "lead", K, 0, 0, 0, (1, 2, 3)),
    *((time, node, "follow", K, 0, 1, 0, 0) for time, node in ((0, 2), (0, 3))),
    *((time, node, "fetched", K, 0, 1) for time, node in ((1, 2), (1, 3))),
]
STOPPED = [(10, 3, "stop", "", "crash"), (22, 0, "isr-change", K, (1, 2), (), 1)]


def appended(time, *nodes):
    return [(time, node, "append", K, 0, 0, (7,)) for node in nodes]


def moved(time, hw=1):
    return (time, 1, "hw", K, hw, 0, True)


def found(*trace, nemesis=(), **meta):
    verdict = check(History.of(trace=[*BEGIN, *trace], nemesis=nemesis, **{**META, **meta}))
    return [
        (one.verdict, one.evidence["since"], one.evidence["until"])
        for one in verdict.anomalies
        if one.name == "hw-not-advanced"
    ]


@pytest.mark.parametrize("late", [0, 1])
def test_it_passes_what_all_have_within_the_bound(late):
    expected = [("violation", 30, 30 + ADVANCE + 1)] if late else []

    assert found(*appended(30, 1, 2, 3), moved(30 + ADVANCE + late)) == expected


def test_it_waits_for_a_member_that_lacks_the_record():
    assert found(*appended(30, 1, 2), moved(500)) == []
    assert found(*appended(30, 1, 2), *appended(490, 3), moved(500)) == []


def test_a_follower_that_is_gone_holds_it_up_for_its_lag_and_no_longer():
    crash = [(10, "strike", 0, "crash", {"node": 3})]
    since = max(10 + LAG, 22)

    assert found(*STOPPED, *appended(24, 1, 2), moved(since + ADVANCE), nemesis=crash) == []
    assert found(*STOPPED, *appended(24, 1, 2), moved(60), nemesis=crash) == [("violation", since, 60)]


def test_it_stands_still_while_the_isr_is_too_small():
    crash = [(10, "strike", 0, "crash", {"node": 3})]

    assert found(*STOPPED, *appended(24, 1, 2), moved(500), nemesis=crash, min_isr=3) == []


def test_nobody_is_judged_beside_somebody_whom_a_fault_may_hold_back():
    slow = [(5, "strike", 0, "slow", {"node": 3})]

    assert found(*appended(30, 1, 2, 3), moved(500), nemesis=slow) == []
    assert found(*appended(30, 1, 2, 3), moved(500), nemesis=[*slow, (300, "heal", 0, "slow", {})]) == [
        ("violation", 300, 500)
    ]


def test_who_has_not_fetched_in_this_epoch_has_not_told_what_it_has():
    again = [(20, 0, "elect", K, 1, 1, (1, 2, 3), (), "forced", True, 1), (21, 1, "lead", K, 1, 1, 0, (1, 2, 3))]
    follow = [(21, 2, "follow", K, 1, 1, 1, 0), (21, 3, "follow", K, 1, 1, 1, 0), (22, 2, "fetched", K, 1, 1)]
    late = (500, 1, "hw", K, 1, 1, True)

    assert found(*appended(15, 1, 2, 3), *again, *follow, late) == []
    assert found(*appended(15, 1, 2, 3), *again, *follow, (40, 3, "fetched", K, 1, 1), late) == [("violation", 40, 500)]


def test_where_several_machines_wrote_the_trace_nobody_is_judged():
    assert found(*appended(30, 1, 2, 3), moved(10**9), world="docker") == []
