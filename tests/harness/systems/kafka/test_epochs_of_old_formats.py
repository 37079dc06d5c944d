"""Whose records are they? Epochs for messages that do not name them."""

from tidemark.harness.systems.kafka.epochs_of_old_formats import attribute

T = "t-0"


def node(number, *events):
    """Events of one node, one µs apart."""
    node_events = {"start", "stop"}
    return [(time, number, e[0], "" if e[0] in node_events else T, *e[1:]) for time, e in enumerate(events)]


def lead(epoch, leo):
    return ("lead", epoch, leo, 0, (1, 2))


def follow(epoch, leader):
    return ("follow", epoch, leader, -1, -1)


def wrote(base, *values):
    return ("append", base, -1, values)


def epochs(found, number):
    return [(e[4], e[6], e[5]) for e in found.events[number] if e[2] == "append"]


def test_a_leader_and_its_followers():
    found = attribute(
        {1: node(1, lead(3, 0), wrote(0, 10), wrote(1, 11)), 2: node(2, follow(3, 1), wrote(0, 10), wrote(1, 11))},
        {1: {T: [(0, -1, (10,)), (1, -1, (11,))]}, 2: {T: [(0, -1, (10,))]}},
    )

    assert epochs(found, 1) == epochs(found, 2) == [(0, (10,), 3), (1, (11,), 3)]
    assert found.segments == {1: {T: [(0, 3, (10,)), (1, 3, (11,))]}, 2: {T: [(0, 3, (10,))]}}
    assert found.unknown == {}


def test_what_a_new_leader_had_before_keeps_its_epoch():
    """Broker 3 was away, and copies all of the log from the second leader."""
    found = attribute(
        {
            1: node(1, lead(0, 0), wrote(0, 10)),
            2: node(2, follow(0, 1), wrote(0, 10), lead(1, 1), wrote(1, 20)),
            3: node(3, follow(1, 2), wrote(0, 10), wrote(1, 20)),
        },
        {},
    )

    assert epochs(found, 3) == [(0, (10,), 0), (1, (20,), 1)]


def test_the_same_record_at_the_same_place_in_two_epochs():
    """A producer sent it again: the first leader's is lost, and comes back in its successor's epoch."""
    found = attribute(
        {
            1: node(1, lead(0, 0), wrote(0, 10), follow(1, 2), ("truncate", 0, 1, "hw", 1), wrote(0, 10)),
            2: node(2, follow(0, 1), lead(1, 0), wrote(0, 10)),
        },
        {1: {T: [(0, -1, (10,))]}},
    )

    assert epochs(found, 1) == [(0, (10,), 0), (0, (10,), 1)]
    assert found.segments[1][T] == [(0, 1, (10,))]


def test_a_replica_that_was_removed_and_comes_back_copies_the_log_anew():
    follower = node(2, follow(0, 1), wrote(0, 1), ("removed", 1, 0), follow(1, 3), wrote(0, 1), wrote(1, 2))
    found = attribute(
        {
            1: node(1, lead(0, 0), wrote(0, 1)),
            2: follower,
            3: node(3, follow(0, 1), wrote(0, 1), lead(1, 1), wrote(1, 2)),
        },
        {},
    )

    assert epochs(found, 2) == [(0, (1,), 0), (0, (1,), 0), (1, (2,), 1)]
    assert found.unknown == {}


def test_divergent_logs_have_different_epochs_at_one_offset():
    """KIP-101: after the power loss of both, each has a record of its own at offset 1."""
    found = attribute(
        {
            1: node(1, lead(0, 0), wrote(0, 1), wrote(1, 2), ("recovered", 2, 1, -1), follow(1, 2), wrote(2, 4)),
            2: node(
                2, follow(0, 1), wrote(0, 1), wrote(1, 2), ("recovered", 1, 1, -1), lead(1, 1), wrote(1, 3), wrote(2, 4)
            ),
        },
        {1: {T: [(0, -1, (1,)), (1, -1, (2,)), (2, -1, (4,))]}, 2: {T: [(0, -1, (1,)), (1, -1, (3,)), (2, -1, (4,))]}},
    )

    assert found.segments[1][T] == [(0, 0, (1,)), (1, 0, (2,)), (2, 1, (4,))]
    assert found.segments[2][T] == [(0, 0, (1,)), (1, 1, (3,)), (2, 1, (4,))]
    assert found.unknown == {}


def test_what_a_killed_leader_did_not_tell_is_its_own():
    """The record is in its file, and its followers may have it from there."""
    found = attribute(
        {
            1: node(1, lead(2, 0), wrote(0, 10), ("recovered", 2, 0, -1), lead(4, 2)),
            2: node(2, follow(4, 1), wrote(0, 10), wrote(1, 11)),
        },
        {1: {T: [(0, -1, (10,)), (1, -1, (11,))]}},
    )

    assert epochs(found, 2) == [(0, (10,), 2), (1, (11,), 2)]
    assert found.segments[1][T] == [(0, 2, (10,)), (1, 2, (11,))]


def test_the_tail_of_a_file_is_of_the_last_leadership():
    found = attribute({1: node(1, lead(2, 0), wrote(0, 10))}, {1: {T: [(0, -1, (10,)), (1, -1, (11,))]}})

    assert found.segments[1][T] == [(0, 2, (10,)), (1, 2, (11,))]


def test_epochs_that_are_named_stay():
    named = ("append", 0, 7, (10,))
    found = attribute(
        {1: node(1, named, lead(9, 1), wrote(1, 11)), 2: node(2, follow(9, 1), wrote(0, 10), wrote(1, 11))},
        {1: {T: [(0, -1, (10,)), (1, -1, (11,))]}, 2: {"u-0": [(0, 5, (1,))]}},
    )

    assert epochs(found, 2) == [(0, (10,), 7), (1, (11,), 9)]
    assert found.segments == {1: {T: [(0, 7, (10,)), (1, 9, (11,))]}, 2: {"u-0": [(0, 5, (1,))]}}


def test_without_the_leaders_trace_its_records_are_not_guessed():
    found = attribute(
        {2: node(2, follow(3, 1), wrote(0, 10), wrote(1, 11))}, {2: {T: [(0, -1, (10,)), (1, -1, (11,))]}}
    )

    assert epochs(found, 2) == [(0, (10,), -1), (1, (11,), -1)]
    assert found.unknown == {
        2: ["The leader epochs of 2 records of t-0 on broker 2 are not known: no line tells who wrote them."]
    }


def test_a_record_that_the_leader_never_had_is_not_guessed():
    found = attribute(
        {1: node(1, lead(0, 0), wrote(0, 10), lead(1, 1)), 2: node(2, follow(1, 1), wrote(0, 99))},
        {},
    )

    assert epochs(found, 2) == [(0, (99,), -1)]
    assert found.unknown.keys() == {2}


def test_the_input_stays_as_it_was():
    events = node(1, lead(3, 0), wrote(0, 10))
    segments = {1: {T: [(0, -1, (10,))]}}
    attribute({1: events}, segments)

    assert events[1][5] == -1
    assert segments[1][T] == [(0, -1, (10,))]
