"""A follower's log is its leader's, from the first good fetch to the end of the pair."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
TWO_LOGS = [
    (10, 2, "append", P, 0, 1, (5, 8)),
    (11, 1, "append", P, 0, 1, (5,)),
    (20, 1, "lead", P, 2, 1, 0, (1, 2)),
    (21, 2, "follow", P, 2, 1, 2, 0),
]
"""Broker 2 follows broker 1, and has one record more."""


def diverged(*trace):
    return check(History.of(trace=trace)).named("divergence")


def test_a_follower_that_keeps_another_record_diverges_when_the_leader_writes_there():
    (anomaly,) = diverged(*TWO_LOGS, (30, 2, "fetched", P, 2, 1), (40, 1, "append", P, 1, 2, (9,)))

    assert anomaly.verdict == "violation"
    assert anomaly.time == 40
    assert anomaly.evidence == {
        "leader": 1,
        "leader_epoch": 2,
        "follower": 2,
        "offset": 1,
        "leader_record": (2, 9),
        "follower_record": (1, 8),
        "trace_index": 5,
    }
    assert anomaly.message == (
        "Broker 2 follows broker 1 in epoch 2 of t-0, but at 0.000040 s its log differs: at offset 1 it has record 8 "
        "of epoch 1, the leader record 9 of epoch 2."
    )


def test_logs_that_differ_at_the_first_fetch_diverge_then():
    (anomaly,) = diverged(*TWO_LOGS, (30, 1, "append", P, 1, 2, (9,)), (40, 2, "fetched", P, 2, 1))

    assert anomaly.time == 40


def test_a_follower_that_appends_something_else_diverges():
    (anomaly,) = diverged(
        (20, 1, "lead", P, 2, 0, 0, (1, 2)),
        (30, 2, "fetched", P, 2, 1),
        (40, 1, "append", P, 0, 2, (9,)),
        (50, 2, "append", P, 0, 2, (8,)),
    )

    assert anomaly.time == 50


def test_a_follower_that_appends_the_same_does_not():
    assert (
        diverged(
            (20, 1, "lead", P, 2, 0, 0, (1, 2)),
            (30, 2, "fetched", P, 2, 1),
            (40, 1, "append", P, 0, 2, (9,)),
            (50, 2, "append", P, 0, 2, (9,)),
        )
        == []
    )


def test_the_same_value_of_another_epoch_is_another_record():
    (anomaly,) = diverged(
        (10, 2, "append", P, 0, 1, (9,)),
        (20, 1, "lead", P, 2, 0, 0, (1, 2)),
        (30, 1, "append", P, 0, 2, (9,)),
        (40, 2, "fetched", P, 2, 1),
    )

    assert (anomaly.evidence["leader_record"], anomaly.evidence["follower_record"]) == ((2, 9), (1, 9))


def test_before_the_first_fetch_a_follower_may_have_anything():
    assert diverged(*TWO_LOGS, (30, 1, "append", P, 1, 2, (9,))) == []


@pytest.mark.parametrize(
    "end",
    [
        (35, 2, "follow", P, 3, 3, 2, 0),
        (35, 1, "follow", P, 3, 3, 1, 0),
        (35, 2, "lead", P, 3, 2, 0, (2,)),
        (35, 1, "lead", P, 3, 1, 0, (1,)),
        (35, 2, "stop", "", "crash"),
        (35, 1, "stop", "", "crash"),
        (35, 2, "truncate", P, 2, 2, "epoch", 2),
    ],
)
def test_the_pair_ends_when_either_changes_epoch_stops_or_truncates(end):
    assert diverged(*TWO_LOGS, (30, 2, "fetched", P, 2, 1), end, (40, 1, "append", P, 1, 2, (9,))) == []


def test_the_pair_begins_again_with_the_next_fetch():
    (anomaly,) = diverged(
        *TWO_LOGS,
        (30, 2, "fetched", P, 2, 1),
        (35, 2, "stop", "", "crash"),
        (36, 2, "start", "", 2),
        (40, 1, "append", P, 1, 2, (9,)),
        (50, 2, "fetched", P, 2, 1),
    )

    assert anomaly.time == 50


def test_a_fetch_from_a_leader_that_is_gone_makes_no_pair():
    assert (
        diverged(*TWO_LOGS, (30, 1, "append", P, 1, 2, (9,)), (31, 1, "stop", "", "crash"), (40, 2, "fetched", P, 2, 1))
        == []
    )


def test_it_is_reported_once_per_epoch_and_follower():
    anomalies = diverged(
        *TWO_LOGS,
        (30, 2, "fetched", P, 2, 1),
        (40, 1, "append", P, 1, 2, (9,)),
        (41, 1, "append", P, 2, 2, (10,)),
        (42, 2, "append", P, 2, 2, (10,)),
    )

    assert [one.time for one in anomalies] == [40]


def test_a_difference_in_the_middle_is_found_by_its_first_offset():
    (anomaly,) = diverged(
        (10, 2, "append", P, 0, 1, (5, 60, 7, 8)),
        (11, 1, "append", P, 0, 1, (5, 6, 7, 8)),
        (20, 1, "lead", P, 2, 4, 0, (1, 2)),
        (30, 2, "fetched", P, 2, 1),
    )

    assert anomaly.evidence["offset"] == 1


def test_final_logs_that_differ_diverge_even_if_the_trace_did_not_say_so():
    (anomaly,) = diverged(
        (20, 1, "lead", P, 2, 0, 0, (1, 2)),
        (30, 2, "fetched", P, 2, 1),
        (40, 1, "append", P, 0, 2, (9,)),
        (50, 2, "append", P, 0, 2, (9,)),
        (90, 1, "final", P, "leader", 2, 1, 1, ((2, 0),), ((0, 2, (9,)),)),
        (90, 2, "final", P, "follower", 2, 1, 1, ((2, 0),), ((0, 2, (8,)),)),
    )

    assert anomaly.time == 90


# Stamps of different machines

BEFORE = [
    (10, 2, "append", P, 0, 1, (8,)),
    (19, 2, "follow", P, 2, 1, 1, 0),
    (20, 2, "fetched", P, 2, 1),
]
LEADS = [(21, 1, "lead", P, 2, 0, 0, (1, 2)), (30, 1, "append", P, 0, 2, (9,))]


def places(*trace):
    return [(one.time, one.evidence["offset"]) for one in diverged(*trace)]


def test_a_follower_that_fetched_before_its_leader_says_that_it_leads_is_compared():
    assert places(*BEFORE, *LEADS) == [(30, 0)]


def test_and_is_so_when_the_leader_tells():
    assert places((5, 1, "append", P, 0, 1, (7,)), *BEFORE, LEADS[0]) == [(21, 0)]


@pytest.mark.parametrize(
    "event",
    [
        (20, 2, "stop", "", "crash"),
        (20, 2, "truncate", P, 1, 1, "epoch", 2),
        (20, 2, "follow", P, 3, 3, 1, 0),
        (20, 2, "lead", P, 3, 1, 0, (2,)),
        (20, 2, "removed", P, 1, 2),
    ],
)
def test_what_ends_a_pair_ends_the_waiting_for_one(event):
    assert places(*BEFORE, event, *LEADS) == []


def test_a_leader_of_another_epoch_is_not_the_one_it_waits_for():
    assert places(*BEFORE, (21, 1, "lead", P, 3, 0, 0, (1,)), LEADS[1]) == []


def test_a_late_answer_of_a_leader_that_has_stopped_makes_no_pair():
    led = [(15, 1, "lead", P, 2, 0, 0, (1, 2)), (16, 1, "stop", "", "crash")]

    assert places(*led, *BEFORE, (30, 1, "append", P, 0, 2, (9,))) == []
