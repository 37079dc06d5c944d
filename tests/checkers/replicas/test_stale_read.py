"""What consumers were given where another record was committed."""

import pytest

from tidemark.checkers import History, check, polled

P = "t-0"
OLD = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7, 8, 9)),
    (30, 1, "hw", P, 2, 1, True),
    (31, 2, "append", P, 0, 1, (7,)),
]
NEW = [
    (40, 2, "lead", P, 2, 1, 1, (2,)),
    (41, 2, "append", P, 1, 2, (5, 6)),
    (50, 2, "hw", P, 3, 2, True),
]


def stale(*polls, trace=(*OLD, *NEW), **meta):
    """Offset, value given and value committed, and since when; of the first of each key."""
    found = check(History.of(ops=[*polls], trace=trace, **meta)).named("stale-read-below-hw")
    return [
        (one.verdict, *(one.evidence[name] for name in ("offset", "value", "committed", "since", "count")))
        for one in found
    ]


def test_from_a_leader_of_old_whose_record_was_lost():
    assert stale(polled(60, "c1", P, (0, 7), (1, 8))) == [("violation", 1, 8, 5, 50, 1)]


def test_what_was_deleted_on_purpose_may_have_another_record_in_its_place():
    """The next leader has not heard of the deletion, and begins below."""
    gone = [(32, 1, "log-start", P, 2, 0, "delete-records")]
    trace = [*OLD, *gone, *NEW]

    assert stale(polled(60, "c1", P, (1, 8)), trace=trace) == [("permitted", 1, 8, 5, 50, 1)]
    kept = [*OLD, (32, 1, "log-start", P, 1, 0, "delete-records"), *NEW]
    assert stale(polled(60, "c1", P, (1, 8)), trace=kept) == [("violation", 1, 8, 5, 50, 1)]


def test_before_the_other_record_was_committed_it_was_right():
    assert stale(polled(35, "c1", P, (0, 7), (1, 8))) == []


def test_what_is_committed_is_not_stale():
    assert stale(polled(60, "c1", P, (0, 7), (1, 5), (2, 6))) == []


def test_each_such_read_is_counted():
    assert stale(polled(60, "c1", P, (1, 8)), polled(61, "c2", P, (1, 8), (2, 9))) == [("violation", 1, 8, 5, 50, 3)]


def test_beyond_what_is_committed_it_is_a_dirty_read_only():
    polls = [polled(45, "c1", P, (2, 9))]

    assert stale(*polls) == []
    assert check(History.of(ops=polls, trace=[*OLD, *NEW])).named("dirty-read")


def test_another_record_that_was_committed_then_and_lost_later():
    later = [(70, 3, "append", P, 0, 1, (7, 8)), (71, 3, "lead", P, 3, 2, 2, (3,))]

    assert stale(polled(60, "c1", P, (1, 8)), trace=[*OLD, *NEW, *later]) == [("violation", 1, 8, 5, 50, 1)]


def test_what_a_leader_of_old_commits_beside_it_is_stale_itself():
    """Broker 1 does not know that broker 2 was elected, and commits what it had; who reads from broker 2 is right."""
    beside = [*OLD[:2], (30, 1, "hw", P, 1, 1, True), OLD[3], NEW[0], NEW[1], (42, 2, "hw", P, 3, 2, True)]
    trace = [*beside, (45, 1, "hw", P, 3, 1, True)]

    assert stale(polled(60, "c1", P, (0, 7), (1, 5), (2, 6)), trace=trace) == []
    assert stale(polled(60, "c1", P, (0, 7), (1, 8), (2, 9)), trace=trace) == [("violation", 1, 8, 5, 42, 2)]


def test_it_is_judged_as_the_loss_of_what_was_given():
    """Broker 2 was elected though it was not in the ISR, as an operator may ask."""
    asked = [(39, 0, "elect", P, 2, 2, (2,), (), "unclean", False, 1), *NEW]
    first = [(5, 0, "elect", P, 1, 1, (1, 3), (), "initial", True, 0), *OLD]
    history = History.of(ops=[polled(60, "c1", P, (1, 8))], trace=[*first, *asked], unclean_election=True)

    assert [(one.verdict, one.clause) for one in check(history).named("stale-read-below-hw")] == [
        ("permitted", "unclean-election")
    ]


@pytest.mark.parametrize(("world", "found"), [("sim", 1), ("docker", 0)])
def test_clocks_of_several_machines_have_two_seconds(world, found):
    assert len(stale(polled(60, "c1", P, (1, 8)), world=world)) == found
