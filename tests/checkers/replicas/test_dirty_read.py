"""What consumers were given before it was committed."""

import pytest

from tidemark.checkers import History, check, polled

P = "t-0"
LEADS = [(10, 1, "lead", P, 1, 0, 0, (1, 2)), (20, 1, "append", P, 0, 1, (7, 8, 9)), (30, 1, "hw", P, 2, 1, True)]


def dirty(*polls, trace=LEADS, **meta):
    """Value and count of each key's dirty reads."""
    found = check(History.of(ops=[*polls], trace=trace, **meta)).named("dirty-read")
    return [(one.verdict, one.evidence["value"], one.evidence["count"]) for one in found]


def test_what_was_committed_may_be_read():
    assert dirty(polled(31, "c1", P, (0, 7), (1, 8))) == []


def test_at_the_same_time_it_is():
    assert dirty(polled(30, "c1", P, (0, 7))) == []


def test_before_it_was_committed():
    assert dirty(polled(25, "c1", P, (0, 7), (1, 8))) == [("violation", 7, 2)]


def test_what_never_was():
    assert dirty(polled(31, "c1", P, (1, 8), (2, 9))) == [("violation", 9, 1)]


def test_once_for_each_record():
    assert dirty(polled(31, "c1", P, (2, 9)), polled(32, "c2", P, (2, 9))) == [("violation", 9, 1)]


def test_a_record_that_was_committed_and_then_lost_was_no_dirty_read():
    lost = [*LEADS, (40, 2, "lead", P, 2, 0, 0, (2,))]

    assert dirty(polled(35, "c1", P, (0, 7), (1, 8)), trace=lost) == []


def test_one_that_was_read_first_and_lost_then_is_told_as_what_it_is():
    lost = [
        *LEADS,
        (40, 2, "lead", P, 2, 0, 0, (2,)),
        (41, 2, "append", P, 0, 2, (1, 2, 3)),
        (42, 2, "hw", P, 3, 2, True),
    ]

    assert dirty(polled(35, "c1", P, (2, 9)), trace=lost) == [("violation", 9, 1)]


def test_what_a_deposed_leader_commits_beside_another_may_be_read():
    deposed = [
        *LEADS,
        (40, 2, "append", P, 0, 1, (7, 8)),
        (41, 2, "lead", P, 2, 2, 2, (2,)),
        (42, 2, "append", P, 2, 2, (5,)),
        (43, 2, "hw", P, 3, 2, True),
        (44, 1, "hw", P, 3, 1, True),
    ]

    assert dirty(polled(45, "c1", P, (0, 7), (1, 8), (2, 9)), trace=deposed) == []
    assert dirty(polled(43, "c1", P, (0, 7), (1, 8), (2, 9)), trace=deposed) == [("violation", 9, 1)]


@pytest.mark.parametrize(("world", "found"), [("sim", 1), ("docker", 0)])
def test_clocks_of_several_machines_have_two_seconds(world, found):
    late = [*LEADS, (1_000_000, 1, "hw", P, 3, 1, True)]

    assert len(dirty(polled(31, "c1", P, (2, 9)), trace=late, world=world)) == found


def test_a_key_of_whose_replicas_nothing_is_known_is_not_judged():
    assert dirty(polled(31, "c1", "t-1", (0, 1))) == []


def test_what_was_deleted_on_purpose_had_been_committed():
    deleted = [
        *LEADS,
        (40, 1, "log-start", P, 2, 0, "delete-records"),
        (50, 2, "lead", P, 2, 0, 0, (2,)),
        (51, 2, "append", P, 0, 2, (1, 2)),
        (52, 2, "hw", P, 2, 2, True),
    ]

    assert dirty(polled(31, "c1", P, (0, 7), (1, 8)), trace=deleted) == []


def test_what_takes_a_lost_records_place_when_the_trace_ends_was_not_committed_before():
    trace = [
        (10, 1, "append", P, 1, 0, (6,)),
        (20, 2, "lead", P, 11, 1, 1, (1, 2)),
        (30, 2, "append", P, 1, 11, (7,)),
        (40, 1, "append", P, 3, 11, (8,)),
        (50, 1, "hw", P, 4, 12, True),
    ]
    assert dirty(polled(45, "c1", P, (1, 7)), trace=trace) == [("violation", 7, 1)]
