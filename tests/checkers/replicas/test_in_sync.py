"""Near misses: who is in an ISR, or may be elected, lacks what is committed."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
START = [
    (0, 0, "register", "", 1, 11, False),
    (0, 0, "register", "", 2, 12, False),
    (0, 0, "register", "", 3, 13, False),
    (1, 0, "elect", P, 1, 1, (1, 2, 3), (), "initial", True, 0),
    (2, 1, "lead", P, 1, 0, 0, (1, 2, 3)),
    (3, 2, "follow", P, 1, 1, 0, 0),
    (3, 3, "follow", P, 1, 1, 0, 0),
    (10, 1, "append", P, 0, 1, (7, 8)),
    (11, 2, "append", P, 0, 1, (7, 8)),
]
COMMITTED = [*START, (12, 3, "append", P, 0, 1, (7, 8)), (13, 1, "hw", P, 2, 1, True)]
CUT = (20, 3, "truncate", P, 1, 2, "to-hw", 1)


def near(trace, **meta):
    """The near misses as ``(name, broker, first offset that is missing, how many)``."""
    verdict = check(History.of(trace=trace, min_isr=2, replicas={P: [1, 2, 3]}, **meta))
    return [
        (one.name, *(one.evidence[name] for name in ("node", "offset", "count")))
        for one in verdict.anomalies
        if one.verdict == "near-miss"
    ]


def test_members_that_have_everything_are_in_sync():
    assert near(COMMITTED) == []


def test_a_leader_that_commits_what_a_member_lacks():
    assert near([*START, (13, 1, "hw", P, 2, 1, True)]) == [("strong-isr", 3, 0, 2), ("weak-isr", 3, 0, 2)]


def test_a_member_that_cuts_what_is_committed():
    assert near([*COMMITTED, CUT]) == [("strong-isr", 3, 1, 1), ("weak-isr", 3, 1, 1)]


def test_a_member_that_has_another_record_there():
    other = (12, 3, "append", P, 0, 1, (7, 9))

    assert near([*START, other, (13, 1, "hw", P, 2, 1, True)])[0] == ("strong-isr", 3, 1, 1)


def test_each_member_leader_and_epoch_once():
    again = [(21, 3, "append", P, 1, 1, (8,)), (22, 3, "truncate", P, 1, 2, "to-hw", 1)]

    assert near([*COMMITTED, CUT, *again]) == [("strong-isr", 3, 1, 1), ("weak-isr", 3, 1, 1)]


def test_who_is_in_the_controllers_isr_and_not_in_the_leaders():
    shrunk = (14, 1, "isr", P, (1, 2), (1, 2), 1)

    assert near([*COMMITTED, shrunk, CUT]) == [("strong-isr", 3, 1, 1)]


def test_who_is_in_the_leaders_isr_and_not_in_the_controllers():
    shrunk = (14, 0, "isr-change", P, (1, 2), (), 1)

    assert near([*COMMITTED, shrunk, CUT]) == [("weak-isr", 3, 1, 1)]


def test_a_member_that_joins_without_having_everything():
    shrunk = [(14, 0, "isr-change", P, (1, 2), (), 1), (15, 1, "isr", P, (1, 2), (1, 2), 1)]
    joins = (30, 0, "isr-change", P, (1, 2, 3), (), 2)

    assert near([*COMMITTED, *shrunk, CUT, joins]) == [("strong-isr", 3, 1, 1)]


def test_a_member_of_the_elr_may_be_elected_too():
    in_elr = [(14, 0, "isr-change", P, (1, 2), (3,), 1), (15, 1, "isr", P, (1, 2), (1, 2), 1)]

    assert near([*COMMITTED, *in_elr, CUT]) == [("leader-candidate-completeness", 3, 1, 1)]


def test_who_is_in_no_isr_may_lack_what_it_wants():
    out = [(14, 0, "isr-change", P, (1, 2), (), 1), (15, 1, "isr", P, (1, 2), (1, 2), 1)]

    assert near([*COMMITTED, *out, CUT]) == []


def test_a_dead_member_is_not_asked():
    assert near([*COMMITTED, (14, 3, "stop", "", "crash"), CUT]) == []


def test_who_came_back_and_is_not_accepted_yet_is_not_asked():
    back = [(14, 3, "stop", "", "crash"), (15, 3, "start", "", 2), (16, 3, "recovered", P, 1, 1, 1)]

    assert near([*COMMITTED, *back]) == []


def test_who_came_back_and_is_accepted_as_a_member_is_asked():
    back = [
        (14, 3, "stop", "", "crash"),
        (15, 3, "start", "", 2),
        (16, 3, "recovered", P, 1, 1, 1),
        (17, 0, "register", "", 3, 23, False),
    ]

    assert near([*COMMITTED, *back]) == [("strong-isr", 3, 1, 1)]


def test_the_leader_does_not_count_on_another_incarnation():
    """It has not heard yet that the controller took the one that restarted out of the ISR."""
    back = [
        (14, 3, "stop", "", "power"),
        (15, 3, "start", "", 2),
        (16, 3, "recovered", P, 0, 0, 2),
        (17, 0, "isr-change", P, (1, 2), (), 1),
        (17, 0, "register", "", 3, 23, False),
        (18, 1, "append", P, 2, 1, (9,)),
        (19, 1, "hw", P, 3, 1, True),
    ]

    assert near([*COMMITTED, (18, 2, "append", P, 2, 1, (9,)), *back]) == []


def test_a_deposed_leader_that_does_not_know_it_is_a_leader():
    elsewhere = [
        (14, 0, "elect", P, 2, 2, (2, 3), (), "online", True, 1),
        (15, 2, "lead", P, 2, 2, 2, (2, 3)),
        (16, 1, "append", P, 2, 1, (9,)),
        (17, 1, "hw", P, 3, 1, True),
    ]

    found = near([*COMMITTED, *elsewhere])

    assert ("strong-isr", 2, 2, 1) in found
    assert ("strong-isr", 3, 2, 1) in found


@pytest.mark.parametrize(("how", "found"), [("power", 0), ("crash", 1)])
def test_what_the_promises_permit_to_be_lost_is_no_near_miss(how, found):
    """With all logs lost but the leader's, and nobody alive for a moment, nothing is promised of the record."""
    lost = [
        event
        for node, at in ((2, 20), (3, 21))
        for event in (
            (at, node, "stop", "", how),
            (at + 1, node, "start", "", 2),
            (at + 2, node, "recovered", P, 0, 0, 2),
            (at + 3, 0, "register", "", node, at, False),
        )
    ]
    all_dead = [(14, 1, "stop", "", how), (15, 1, "start", "", 2), (16, 1, "recovered", P, 2, 2, 0)]
    back = [(40, 0, "register", "", 1, 50, False), (41, 0, "elect", P, 1, 2, (1, 2, 3), (), "online", True, 1)]
    leads = (42, 1, "lead", P, 2, 2, 2, (1, 2, 3))
    trace = [*COMMITTED, *all_dead, *sorted(lost), *back, leads]

    assert bool(near(trace)) == bool(found)


@pytest.mark.parametrize(("world", "found"), [("sim", 2), ("docker", 0)])
def test_clocks_of_several_machines_have_two_seconds(world, found):
    late = [(1_500_000, 3, "append", P, 0, 1, (7, 8)), (9_000_000, 2, "hw", P, 2, 1, False)]

    assert len(near([*START, (13, 1, "hw", P, 2, 1, True), *late], world=world)) == found


def test_what_lasts_longer_than_that_is_told_of_any_world():
    later = (9_000_000, 2, "append", P, 2, 1, (9,))

    assert len(near([*START, (13, 1, "hw", P, 2, 1, True), later], world="docker")) == 2


def test_a_run_with_near_misses_alone_is_not_invalid():
    verdict = check(History.of(trace=[*COMMITTED, CUT], min_isr=2))

    assert verdict.valid != "invalid"


def test_below_a_leaders_log_start_nobody_needs_anything():
    deleted = (14, 1, "log-start", P, 2, 0, "delete-records")

    assert near([*COMMITTED, deleted, CUT]) == []


def test_who_ends_below_a_leaders_log_start_lacks_what_comes_from_there():
    more = [
        (14, 1, "append", P, 2, 1, (9,)),
        (15, 2, "append", P, 2, 1, (9,)),
        (16, 3, "append", P, 2, 1, (9,)),
        (17, 1, "hw", P, 3, 1, True),
        (18, 1, "log-start", P, 2, 0, "delete-records"),
    ]

    assert near([*COMMITTED, *more, (20, 3, "truncate", P, 1, 3, "to-hw", 1)])[0] == ("strong-isr", 3, 2, 1)
