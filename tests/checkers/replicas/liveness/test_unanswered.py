"""Requests that were carried out and not answered: smallest histories, to the microsecond of the bound."""

import pytest

from tidemark.checkers import History, Op, check
from tidemark.checkers.replicas.liveness.bounds import TIMES

ANSWER = 9
META = {
    "replicas": {"t-0": [1, 2], "t-1": [3]},
    "min_isr": 1,
    "end_us": 500,
    "times": dict(zip(TIMES, (10, 2, 1, 15, 5, 2, 15), strict=True)),
}
BEGIN = [(0, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 0), (0, 1, "lead", "t-0", 0, 0, 0, (1, 2))]
APPENDED, COMMITTED = (41, 1, "append", "t-0", 0, 0, (7, 8)), (45, 1, "hw", "t-0", 2, 0, True)
ELSEWHERE = (1, "strike", 1, "isolate", {"node": 3})
"""So that nobody can say that nothing was wrong with anybody."""
SLOW = (42, "strike", 0, "slow", {"node": 1})


def found(trace, ops, nemesis=(), **meta):
    history = History.of(trace=[*BEGIN, *trace], nemesis=[ELSEWHERE, *nemesis], ops=ops, **{**META, **meta})
    return [
        (one.evidence["since"], one.evidence["until"])
        for one in check(history).anomalies
        if one.name == "not-acknowledged"
    ]


def send(end, error="REQUEST_TIMED_OUT", acks="all"):
    value = (("send", "t-0", 7), ("send", "t-0", 8))
    return [Op(40, "p1", "invoke", "send", value), Op(end, "p1", "info", "send", value, error, acks)]


@pytest.mark.parametrize(("end", "expected"), [(45 + ANSWER, []), (46 + ANSWER, [(45, 46 + ANSWER)])])
def test_what_is_committed_is_acknowledged_within_the_bound(end, expected):
    assert found([APPENDED, COMMITTED], send(end)) == expected


@pytest.mark.parametrize(
    ("trace", "nemesis"),
    [
        ([APPENDED, (45, 1, "hw", "t-0", 1, 0, True)], ()),
        ([APPENDED, (45, 1, "hw", "t-0", 2, 1, True)], ()),
        ([APPENDED, (45, 2, "hw", "t-0", 2, 0, True)], ()),
        ([APPENDED, (45, 1, "hw", "t-0", 2, 0, False)], ()),
        ([APPENDED, COMMITTED, (50, 1, "stop", "", "crash")], ()),
        ([APPENDED, (42, 1, "stop", "", "disk"), (43, 1, "start", "", 2), COMMITTED], ()),
        ([APPENDED, COMMITTED, (50, 1, "pause", "")], ()),
        ([APPENDED, COMMITTED], [SLOW]),
    ],
    ids=["half", "another-reign", "another-broker", "follower", "stopped", "another-life", "paused", "slow"],
)
def test_who_did_not_commit_it_or_cannot_answer_owes_nothing(trace, nemesis):
    assert found(trace, send(60), nemesis) == []


def test_a_client_that_asks_again_needs_somebody_who_leads():
    """It had given up just before; who leads until the bound is over, if in another epoch, is asked in time."""
    for led_until, expected in ((45 + ANSWER, []), (46 + ANSWER, [(45, 60)])):
        assert found([APPENDED, COMMITTED, (led_until, 1, "follow", "t-0", 1, 2, 2, 2)], send(60)) == expected
    for more in ((46, 2, "follow", "t-1", 1, 3, 0, 0), (46, 1, "lead", "t-0", 1, 2, 2, (1, 2))):
        assert found([APPENDED, COMMITTED, more], send(60)) == [(45, 60)]


def test_other_errors_other_acks_and_other_worlds_are_not_judged():
    trace = [APPENDED, COMMITTED]

    assert found(trace, send(60, error="NOT_ENOUGH_REPLICAS_AFTER_APPEND")) == []
    assert found(trace, send(60, acks="1")) == []
    assert found(trace, send(60), world="docker") == []


HAVE = [(10, 1, "hw", "t-0", 5, 0, True), (11, 2, "hw", "t-0", 5, 0, False)]
ASKED = (41, 1, "log-start", "t-0", 5, 0, "delete-records")


def delete(end, offset=5):
    value = (("delete", "t-0", offset),)
    return [Op(40, "d1", "invoke", "delete", value), Op(end, "d1", "info", "delete", value, "REQUEST_TIMED_OUT")]


@pytest.mark.parametrize("offset", [5, -1])
@pytest.mark.parametrize(("end", "expected"), [(41 + ANSWER, []), (42 + ANSWER, [(41, 42 + ANSWER)])])
def test_a_deletion_that_all_can_follow_is_answered_within_the_bound(offset, end, expected):
    assert found([*HAVE, ASKED], delete(end, offset)) == expected


def test_it_waits_for_who_is_behind_until_that_has_caught_up():
    late = (45, 2, "hw", "t-0", 5, 0, False)

    assert found([HAVE[0], ASKED, late], delete(45 + ANSWER)) == []
    assert found([HAVE[0], ASKED, late], delete(46 + ANSWER)) == [(45, 46 + ANSWER)]


@pytest.mark.parametrize(
    ("trace", "nemesis"),
    [
        ([HAVE[0], ASKED], ()),
        (HAVE, ()),
        ([*HAVE, (20, 2, "recovered", "t-0", 5, 4, 0), ASKED], ()),
        ([*HAVE, ASKED, (50, 0, "elect", "t-0", 1, 1, (1, 2), (), "preferred", True, 1)], ()),
        ([(5, 0, "reassign", "t-0", (1, 2, 3), (3,), ()), *HAVE, ASKED], ()),
        ([*HAVE, ASKED, (50, 2, "stop", "", "crash")], ()),
        ([*HAVE, ASKED], [SLOW]),
        ([*HAVE, ASKED], [(43, "strike", 0, "slow", {"node": 2})]),
    ],
    ids=["behind", "not-done", "restarted", "another-reign", "reassigned", "stopped", "slow-leader", "slow-follower"],
)
def test_a_deletion_that_waits_for_somebody_is_not_judged(trace, nemesis):
    assert found(trace, delete(60), nemesis) == []
