"""Queues, as Jepsen's own tests of its checkers have them."""

import pytest

from tidemark.checkers.objects.workloads import queue, total_queue


def enqueued(*values):
    return [(1, type_, "enqueue", value) for value in values for type_ in ("invoke", "ok")]


def dequeued(*values):
    return [half for value in values for half in ((2, "invoke", "dequeue", None), (2, "ok", "dequeue", value))]


def test_everything_came_out_and_so_did_what_nobody_was_sure_of(history):
    ops = history((1, "invoke", "enqueue", 1), (3, "invoke", "enqueue", 2), (3, "ok", "enqueue", 2), *dequeued(1, 2))

    result = total_queue(ops)

    assert result.valid == "valid"
    assert result.evidence == {
        "attempt_count": 2,
        "acknowledged_count": 1,
        "ok_count": 2,
        "unexpected_count": 0,
        "duplicated_count": 0,
        "lost_count": 0,
        "recovered_count": 1,
        "lost": [],
        "unexpected": [],
        "duplicated": [],
        "recovered": [1],
    }


def test_elements_are_lost_doubled_and_made_up(history):
    hung = (1, "invoke", "enqueue", "hung"), (1, "info", "enqueue", "hung")
    ops = history(*hung, *enqueued("enqueued", "dup"), (4, "invoke", "dequeue", None), *dequeued("wtf", "dup", "dup"))

    result = total_queue(ops)

    assert result.valid == "invalid"
    assert result.message == "1 of 2 elements enqueued never came out; 1 element came out that nobody enqueued"
    assert result.evidence["lost"] == ["enqueued"]
    assert result.evidence["unexpected"] == ["wtf"]
    assert result.evidence["duplicated"] == ["dup"]
    assert result.evidence["recovered"] == []
    assert result.evidence["ok_count"] == 1


def test_what_comes_out_twice_is_counted_and_no_error(history):
    result = total_queue(history(*enqueued(1), *dequeued(1, 1)))

    assert (result.valid, result.evidence["duplicated"]) == ("valid", [1])


def test_a_drain_is_as_many_dequeues(history):
    drained = (3, "invoke", "drain", None), (3, "ok", "drain", [2, 1])

    assert total_queue(history(*enqueued(1, 2), *drained)).valid == "valid"
    assert total_queue(history(*enqueued(1, 2, 3), *drained)).evidence["lost"] == [3]


def test_a_drain_of_unknown_end_cannot_be_judged(history):
    with pytest.raises(ValueError, match="operation 3: nobody knows what a drain took"):
        total_queue(history(*enqueued(1), (3, "invoke", "drain", None), (3, "info", "drain", None)))


def test_what_is_dequeued_was_being_enqueued_at_least(history):
    assert queue([]).valid == "unknown"
    assert queue(history((1, "invoke", "enqueue", 1))).evidence == {"left": 1}
    assert (
        queue(history((2, "invoke", "dequeue", None), (1, "invoke", "enqueue", 1), (2, "ok", "dequeue", 1))).valid
        == "valid"
    )
    assert queue(history((1, "ok", "dequeue", 1))).message == "dequeue by 1 returned 1, which was not in it"


def test_of_a_queue_that_nobody_used_nothing_is_known(history):
    """Jepsen's checkers say valid of an empty history."""
    assert queue([]).unknown_because == queue(history(*enqueued(1))).unknown_because == "nothing came out"
    assert total_queue([]).unknown_because == "nothing was enqueued, and nothing came out"


def test_an_ordered_queue_gives_the_first(history):
    ops = history(*enqueued("a", "b"), *dequeued("b"))

    assert queue(ops).valid == "valid"
    assert queue(ops, ordered=True).message == "dequeue by 2 returned 'b', which was not first"
    assert queue(history(*enqueued("a", "b"), *dequeued("a", "b")), ordered=True).valid == "valid"
