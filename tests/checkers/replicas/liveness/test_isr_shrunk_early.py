"""A follower that its leader takes out of the ISR though it keeps up: smallest histories, to the microsecond."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

K = "t-0"
META = {"replicas": {K: [1, 2]}, "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True))}
"""So who had all between 11 and 2 µs before must not be taken out."""
BOTH = [
    (0, 0, "elect", K, 1, 0, (1, 2), (), "initial", True, 0),
    (1, 1, "lead", K, 0, 0, 0, (1, 2)),
    (2, 2, "follow", K, 0, 1, 0, 0),
    (3, 2, "fetched", K, 0, 1),
]
OUT = 40


def shrunk(time=OUT):
    return [(time, 0, "isr-change", K, (1,), (), 1), (time + 20, 1, "isr", K, (1,), (1,), 1)]


def has(node, end, time):
    return (time, node, "append", K, end - 1, 0, (end,))


def found(*trace, nemesis=(), **meta):
    trace = sorted([*BOTH, *trace], key=lambda event: event[0])
    verdict = check(History.of(trace=trace, nemesis=nemesis, **{**META, **meta}))
    return [
        (one.evidence["follower"], one.evidence["since"], one.evidence["until"])
        for one in verdict.anomalies
        if one.name == "isr-shrunk-early" and one.verdict == "violation"
    ]


def test_who_has_all_all_the_time_stays():
    assert found(*shrunk()) == [(2, OUT - 11, OUT)]
    assert found((OUT + 20, 1, "isr", K, (1, 2), (1, 2), 0)) == []


@pytest.mark.parametrize(("at", "early"), [(OUT - 12, False), (OUT - 11, True), (OUT - 2, True), (OUT - 1, False)])
def test_it_must_have_had_all_within_the_lag_time(at, early):
    """It has the first record at this moment, and a microsecond later the leader has another."""
    behind = [has(1, 1, 5), has(2, 1, at), has(1, 2, at + 1)]

    assert found(*behind, *shrunk()) == ([(2, at, OUT)] if early else [])


def test_who_lacks_something_goes():
    assert found(has(1, 1, 5), *shrunk()) == []


def test_both_are_well_long_enough_that_the_leader_asked_just_now():
    """What is lost is asked for again after a request's time-out; a leader may ask for what was so when it asked first."""
    for healed, early in ((OUT - 9, []), (OUT - 10, [(2, OUT - 6, OUT)])):
        lossy = [(4, "strike", 0, "lossy", {"node": 1}), (healed, "heal", 0, "lossy", {})]
        assert found(*shrunk(), nemesis=lossy) == early


def test_nobody_is_judged_whom_a_fault_holds_back():
    for kind, node in (("slow", 2), ("slow", 1), ("controller-isolated", 0)):
        assert found(*shrunk(), nemesis=[(30, "strike", 0, kind, {"node": node})]) == []


def test_who_the_controller_takes_out_is_not_the_leaders_doing():
    assert found((OUT, 2, "stop", "", "crash"), *shrunk()) == []
    assert found((OUT, 0, "fence", "", 2), *shrunk()) == []


def test_who_is_no_replica_any_more_leaves():
    assert found((OUT, 0, "reassign", K, (1,), (), ()), *shrunk()) == []
    assert found((OUT - 5, 0, "reassign", K, (1, 2, 3), (3,), ()), *shrunk()) == []


def test_who_follows_another_epoch_or_has_no_answer_yet_is_not_counted():
    assert found((20, 2, "follow", K, 7, 1, 0, 0), *shrunk()) == []
    assert found((20, 2, "follow", K, 0, 1, 0, 0), *shrunk()) == []
    assert found((20, 2, "follow", K, 0, 1, 0, 0), (OUT - 11, 2, "fetched", K, 0, 1), *shrunk()) == [(2, OUT - 7, OUT)]


def test_where_several_machines_wrote_the_trace_nobody_is_judged():
    assert found(*shrunk(), world="docker") == []


LAG = META["times"]["lag_time_us"]
CUT = [(2, "strike", 0, "from-peers", {"node": 2})]


def begun(*more, out=1 + LAG, nemesis=CUT, kept=(1,)):
    """A leader that began at 1; the follower is cut off and lacks a record, so that nobody is judged who must be well."""
    trace = [*BOTH[:3], has(1, 1, 4), *more, (out, 0, "isr-change", K, kept, (), 1)]
    verdict = check(History.of(trace=sorted(trace, key=lambda event: event[0]), nemesis=nemesis, end_us=200, **META))
    return [(one.evidence["follower"], one.evidence["since"]) for one in verdict.named("isr-shrunk-early")]


def test_with_whom_a_leader_begins_counts_as_caught_up_then():
    assert begun() == [(2, 1)]
    assert begun(out=2 + LAG) == []


def test_who_is_no_replica_may_be_taken_out_at_once():
    again = [(0, 0, "elect", K, 1, 1, (1, 2), (), "reassigned", True, 1), (1, 1, "lead", K, 1, 0, 0, (1, 2))]

    assert begun((0, 0, "reassign", K, (1, 2), (), ()), *again) == [(2, 1)]
    assert begun((0, 0, "reassign", K, (1, 3), (), ()), *again) == []


def test_who_came_later_may_never_have_had_all():
    began_alone = [(0, 0, "elect", K, 1, 1, (1,), (), "online", True, 1), (1, 1, "lead", K, 1, 0, 0, (1,))]
    let_in = (6, 0, "isr-change", K, (1, 2), (), 1)

    assert begun(*began_alone, let_in) == []
    assert begun((5, 0, "isr-change", K, (1,), (), 1), (6, 0, "isr-change", K, (1, 2), (), 2)) == [(2, 1)]


@pytest.mark.parametrize(
    "more",
    [
        [(5, 2, "stop", "", "crash"), (7, 2, "start", "", 2)],
        [(5, 1, "stop", "", "crash"), (6, 1, "start", "", 2), (7, 1, "lead", K, 0, 0, 0, (1, 2))],
        [(1 + LAG, 0, "fence", "", 2), (90, 0, "unfence", "", 2)],
        [(5, 0, "register", "", 2, 9, False), (90, 0, "unfence", "", 2)],
        [(5, 0, "reassign", K, (1,), (), ())],
        [(5, 0, "elect", K, 1, 1, (1, 2), (), "online", True, 1)],
    ],
)
def test_whom_something_else_may_have_taken_out_is_not_the_leaders_doing(more):
    assert begun(*more) == []


def test_who_shuts_down_is_taken_out_before_it_stops():
    stops = (9, "strike", 1, "restart", {"node": 2, "nodes": [2]})

    assert begun((90, 2, "stop", "", "clean"), nemesis=[*CUT, stops]) == []
