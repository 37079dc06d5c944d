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


def allowed(*times, ends=()):
    """An operator allows them at these times, and until then."""
    strikes = [(time, "strike", number, "unclean-allowed", {}) for number, time in enumerate(times)]
    return [*strikes, *((time, "heal", number, "unclean-allowed", {}) for number, time in enumerate(ends))]


def switched(time, *, on):
    return (time, 0, "unclean-switch", "", on)


def test_the_configuration_may_want_them_for_a_while():
    while_it_does = [switched(36, on=True), *unclean(40, 3, 2), switched(48, on=False)]

    assert told(*while_it_does, requests=allowed(35, ends=[47])) == [EXCUSED]
    assert told(*while_it_does, *unclean(50, 3, 3), requests=allowed(35, ends=[47])) == [
        EXCUSED, (50, "unasked-election", "violation"),
    ]  # fmt: skip
    assert told(switched(36, on=True), switched(38, on=False), *unclean(40, 3, 2), requests=allowed(35, ends=[37])) == [
        UNASKED, LOST,
    ]  # fmt: skip


def test_a_record_that_was_committed_since_is_not_lost_by_one_that_was_allowed_before():
    since = [
        (45, 3, "append", P, 0, 2, (8,)),
        (46, 3, "hw", P, 1, 2, True),
        switched(48, on=False),
        *unclean(50, 2, 3),
    ]

    assert told(switched(36, on=True), *unclean(40, 3, 2), *since, requests=allowed(35, ends=[47])) == [
        EXCUSED, (50, "unasked-election", "violation"), (51, "lost-committed-write", "violation"),
    ]  # fmt: skip


def test_until_the_controller_has_heard_that_they_are_forbidden_they_are_allowed():
    assert told(switched(36, on=True), *unclean(40, 3, 2), switched(48, on=False), requests=allowed(35, ends=[39])) == [
        EXCUSED,
    ]  # fmt: skip


def test_that_the_controller_says_so_is_not_enough():
    assert told(switched(36, on=True), *unclean(40, 3, 2)) == [UNASKED, LOST]


@pytest.mark.parametrize(("end", "expected"), [(45, [EXCUSED]), (39, [UNASKED, LOST])])
def test_where_the_trace_does_not_tell_the_orders_count(end, expected):
    assert told(*unclean(40, 3, 2), requests=allowed(35, ends=[end])) == expected


def test_an_allowance_uses_up_what_was_asked_for_before():
    requests = [*allowed(35, ends=[45]), request(36)]
    second = (50, "unasked-election", "violation")

    assert told(*unclean(40, 3, 2), *unclean(50, 3, 3), requests=requests) == [EXCUSED, second]


def clean(leader, how="reassigned", isr=None):
    return (40, 0, "elect", P, leader, 2, isr or (leader,), (), how, True, 2)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([clean(3)], True),
        ([clean(3, isr=(1, 2, 3))], True),
        ([clean(2)], False),
        ([(35, 0, "isr-change", P, (1, 3), (), 1), clean(3)], False),
        ([(35, 0, "isr-change", P, (1,), (3,), 1), clean(3, "online")], False),
        ([(35, 1, "isr", P, (1, 2), (1, 2, 3), 0), clean(3)], False),
        ([clean(3, "last-known")], False),
        ([(35, 0, "elect", P, -1, 2, (1,), (), "offline", True, 1), clean(2)], True),
    ],
)
def test_what_the_controller_calls_clean_is_held_against_what_it_said_before(events, found):
    assert (UNASKED in told(*events)) is found
    assert UNASKED not in told(*events, world="docker")
