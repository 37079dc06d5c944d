"""The replay, and the O(1) comparison of prefixes."""

from hypothesis import given
from hypothesis import strategies as st

from checkers.replica_state import ReplayedReplica, first_difference, replay

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
