"""Unclean elections that somebody wanted, and others."""

import pytest

from tidemark.checkers import History, check
from tidemark.checkers.replicas.replica_run import LIVE_PATIENCE_US

P = "t-0"
COMMITTED = [
    (0, 0, "elect", P, 1, 1, (1, 2), (), "initial", True, 0),
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7,)),
    (30, 1, "hw", P, 1, 1, True),
]


def unclean(time, leader, epoch, how="unclean"):
    return [
        (time, 0, "elect", P, leader, epoch, (leader,), (), how, False, epoch),
        (time + 1, leader, "lead", P, epoch, 0, 0, (leader,)),
    ]


def request(time, partition=P):
    return (time, "strike", 0, "unclean-election", {"node": 3, "partition": partition})


def told(*events, requests=(), **meta):
    """(time, name, verdict) of each anomaly that matters here."""
    verdict = check(History.of(trace=[*COMMITTED, *events], nemesis=requests, **meta))
    names = ("unasked-election", "lost-committed-write")
    return [(one.time, one.name, one.verdict) for one in verdict.anomalies if one.name in names]


UNASKED = (40, "unasked-election", "violation")
LOST, EXCUSED = (41, "lost-committed-write", "violation"), (41, "lost-committed-write", "permitted")


@pytest.mark.parametrize("how", ["unclean", "forced"])
def test_one_that_nobody_asked_for_is_a_violation_and_excuses_nothing(how):
    assert told(*unclean(40, 3, 2, how)) == [UNASKED, LOST]


def test_the_configuration_may_want_them_all():
    assert told(*unclean(40, 3, 2), *unclean(50, 3, 3), unclean_election=True) == [EXCUSED]


@pytest.mark.parametrize("partition", [P, None])
def test_an_operator_may_ask_for_one(partition):
    assert told(*unclean(40, 3, 2), requests=[request(35, partition)]) == [EXCUSED]


@pytest.mark.parametrize("asked", [request(45), request(35, "t-1")])
def test_not_later_and_not_for_another_partition(asked):
    assert told(*unclean(40, 3, 2), requests=[asked]) == [UNASKED, LOST]


@pytest.mark.parametrize(("time", "violations"), [(40 + LIVE_PATIENCE_US, 0), (41 + LIVE_PATIENCE_US, 1)])
def test_on_machines_a_request_may_be_noted_after_what_came_of_it(time, violations):
    names = [name for _, name, _ in told(*unclean(40, 3, 2), requests=[request(time)], world="docker")]

    assert names.count("unasked-election") == violations


def test_a_request_permits_one():
    second = (50, "unasked-election", "violation")

    assert told(*unclean(40, 3, 2), *unclean(50, 3, 3), requests=[request(35)]) == [EXCUSED, second]
    assert told(*unclean(40, 3, 2), *unclean(50, 3, 3), requests=[request(35), request(45)]) == [EXCUSED]


def test_a_last_known_leader_is_judged_by_the_promises_alone():
    assert told(*unclean(40, 3, 2, "last-known")) == [LOST]
