"""A follower that its leader keeps out: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

JOIN = 22
K = "t-0"
META = {"replicas": {K: [1, 2]}, "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True))}
ALONE = [(0, 0, "elect", K, 1, 0, (1,), (), "initial", True, 0), (1, 1, "lead", K, 0, 0, 0, (1,))]
FOLLOWS, FETCHED = (2, 2, "follow", K, 0, 1, 0, 0), (5, 2, "fetched", K, 0, 1)


def grown(time):
    return (time, 0, "isr-change", K, (1, 2), (), 1)


def found(*trace, nemesis=(), **meta):
    verdict = check(History.of(trace=[*ALONE, *trace], nemesis=nemesis, **{**META, **meta}))
    return [
        (one.evidence["refused"], one.evidence["since"], one.evidence["until"])
        for one in verdict.anomalies
        if one.name == "not-let-in" and one.verdict == "violation"
    ]


@pytest.mark.parametrize("late", [0, 1])
def test_who_has_all_joins_the_isr_within_the_bound(late):
    assert found(FOLLOWS, FETCHED, grown(5 + JOIN + late)) == ([(False, 5, 6 + JOIN)] if late else [])


def test_who_lacks_something_may_stay_outside():
    written = (4, 1, "append", K, 0, 0, (7,))

    assert found(written, FOLLOWS, FETCHED, grown(500)) == []
    assert found(written, FOLLOWS, FETCHED, (460, 2, "append", K, 0, 0, (7,)), grown(500)) == [(False, 460, 500)]


@pytest.mark.parametrize("late", [0, 1])
def test_who_follows_has_an_answer_within_the_bound(late):
    fetched, in_time = (2 + JOIN + late, *FETCHED[1:]), grown(3 + JOIN + late)

    assert found(FOLLOWS, fetched, in_time) == ([(True, 2, 3 + JOIN)] if late else [])


def test_who_follows_another_epoch_is_not_owed_one():
    assert found((2, 2, "follow", K, 7, 1, 0, 0), grown(500)) == []


def test_who_has_given_up_is_not_either():
    assert found(FOLLOWS, (6, 2, "out-of-order", K, 5, 0), grown(500)) == []


def test_who_has_started_again_is_told_anew():
    back = [(10, 2, "stop", "", "crash"), (11, 2, "start", "", 2), (450, 2, "follow", K, 0, 1, 0, 0)]
    ends = (500, 1, "hw", K, 0, 0, True)

    assert found(FOLLOWS, FETCHED, *back[:2], ends) == []
    assert found(FOLLOWS, FETCHED, *back, ends) == [(True, 450, 500)]


def test_nobody_is_judged_whom_a_fault_holds_back():
    for kind, node in (("slow", 2), ("slow", 1), ("controller-isolated", 0)):
        assert found(FOLLOWS, FETCHED, grown(500), nemesis=[(3, "strike", 0, kind, {"node": node})]) == []


def test_who_is_no_replica_any_more_is_not_let_in():
    gone = (6, 0, "reassign", K, (1,), (), ())

    assert found(FOLLOWS, FETCHED, gone, (500, 1, "hw", K, 0, 0, True)) == []


def test_where_several_machines_wrote_the_trace_nobody_is_judged():
    assert found(FOLLOWS, FETCHED, grown(10**9), world="docker") == []
