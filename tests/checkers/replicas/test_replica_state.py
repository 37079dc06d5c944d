"""The replay, and the O(1) comparison of prefixes."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.checkers.replicas.log_chain import agree, first_difference
from tidemark.checkers.replicas.replay import replay
from tidemark.checkers.replicas.replayed_replica import HOLE, ReplayedReplica

records = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


def replica(log):
    made = ReplayedReplica(1, "t-0")
    for epoch, value in log:
        made.extend(epoch, (value,))
    return made


@given(records, records)
def test_chains_agree_exactly_where_the_prefixes_do(one, other):
    first, second = replica(one), replica(other)

    for end in range(min(len(one), len(other)) + 1):
        assert (first.chain[end] == second.chain[end]) == (one[:end] == other[:end])


@given(records, records)
def test_the_first_difference_is_the_first_record_that_differs(one, other):
    end = min(len(one), len(other))
    differing = [offset for offset in range(end) if one[offset] != other[offset]]

    if differing:
        assert first_difference(replica(one).chain, replica(other).chain, end) == differing[0]


@given(records, records, st.integers(0, 12))
def test_chains_rise_alike_exactly_where_the_logs_agree(one, other, begin):
    first, second = replica(one), replica(other)

    for end in range(begin, min(len(one), len(other)) + 1):
        assert agree(first.chain, second.chain, begin, end) == (one[begin:end] == other[begin:end])


@given(records, records, st.integers(0, 12))
def test_the_first_difference_from_an_offset_on(one, other, begin):
    end = min(len(one), len(other))
    differing = [offset for offset in range(begin, end) if one[offset] != other[offset]]

    if differing:
        assert first_difference(replica(one).chain, replica(other).chain, end, begin) == differing[0]


def test_a_log_start_hides_what_lies_below():
    made = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5, 6, 7)),
            (2, 1, "stop", "", "crash"),
            (3, 1, "start", "", 2),
            (4, 1, "log-start", "t-0", 2, 0, "retention"),
        ]
    ).at(1, "t-0")

    assert (made.start, [made.has(offset, (1, 5 + offset)) for offset in range(3)]) == (2, [False, False, True])
    assert made.had_at(made.stops[0], 0, (1, 5))


def test_a_log_that_begins_anew_above_its_end_has_holes_below():
    made = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5,)),
            (2, 1, "truncate", "t-0", 0, 1, "out of range", 2),
            (2, 1, "log-start", "t-0", 3, 0, "begin-anew"),
            (3, 1, "append", "t-0", 3, 1, (8,)),
        ]
    ).at(1, "t-0")

    assert (made.start, made.records) == (3, [HOLE, HOLE, HOLE, (1, 8)])


def test_a_log_may_begin_anew_below_where_it_was():
    """KAFKA-6975: with the whole batch that reaches across the leader's log start."""
    made = replay(
        [
            (1, 1, "log-start", "t-0", 4, 0, "begin-anew"),
            (2, 1, "log-start", "t-0", 3, 4, "begin-anew"),
            (2, 1, "append", "t-0", 3, 1, (8, 9)),
            (2, 1, "log-start", "t-0", 4, 3, "leader"),
        ]
    ).at(1, "t-0")

    assert (made.start, made.records) == (4, [HOLE, HOLE, HOLE, (1, 8), (1, 9)])


def test_a_cut_and_a_recovery_take_the_log_start_down():
    events = [(1, 1, "append", "t-0", 0, 1, (5, 6, 7)), (2, 1, "log-start", "t-0", 2, 0, "retention")]

    assert replay([*events, (3, 1, "truncate", "t-0", 1, 3, "out of range", 2)]).at(1, "t-0").start == 1
    assert replay([*events, (3, 1, "recovered", "t-0", 3, 2, 0)]).at(1, "t-0").start == 0


def test_a_final_log_is_what_lies_there_from_its_first_batch_on():
    made = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5, 6, 7)),
            (2, 1, "log-start", "t-0", 2, 0, "retention"),
            (9, 1, "final", "t-0", "follower", 1, 4, 4, (), ((2, 1, (7, 8)),)),
        ]
    ).at(1, "t-0")

    assert made.records == [(1, 5), (1, 6), (1, 7), (1, 8)]


def test_a_log_is_its_appends_truncations_and_recoveries():
    replicas = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5, 6, 7)),
            (2, 1, "truncate", "t-0", 1, 3, "epoch", 2),
            (3, 1, "append", "t-0", 1, 2, (8, 9)),
            (4, 1, "stop", "", "power"),
            (5, 1, "start", "", 2),
            (6, 1, "recovered", "t-0", 2, 1, 1),
            (7, 1, "something-new", "t-0", 1, 2, 3),
        ]
    )

    made = replicas.at(1, "t-0")
    assert made.records == [(1, 5), (2, 8)]
    assert made.hw == 1
    assert [(removal.at, removal.to, removal.records) for removal in made.removals] == [
        (1, 1, [(1, 6), (1, 7)]),
        (5, 2, [(2, 9)]),
    ]


def test_what_a_replica_held_when_it_stopped_is_known_afterwards():
    made = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5,)),
            (2, 1, "stop", "", "crash"),
            (3, 1, "start", "", 2),
            (4, 1, "append", "t-0", 1, 1, (6,)),
            (5, 1, "truncate", "t-0", 0, 2, "epoch", 2),
            (6, 1, "append", "t-0", 0, 2, (7,)),
        ]
    ).at(1, "t-0")

    (stop,) = made.stops
    assert made.had_at(stop, 0, (1, 5))
    assert not made.had_at(stop, 1, (1, 6))
    assert not made.had_at(stop, 0, (2, 7))


def test_a_final_log_may_have_holes():
    state = replay(
        [
            (1, 1, "append", "t-0", 0, 1, (5,)),
            (9, 1, "final", "t-0", "follower", 1, 4, 4, (), ((0, 1, (5,)), (3, 1, (8,)))),
        ]
    ).by_place[1, "t-0"]

    assert state.records == [(1, 5), HOLE, HOLE, (1, 8)]
