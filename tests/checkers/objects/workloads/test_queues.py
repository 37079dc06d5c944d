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
        "certainly_lost_count": 0,
        "recovered_count": 1,
        "recovered": [1],
        **{f"{name}_count": 0 for name in ("unexpected", "early", "failed", "duplicated", "lost", "untold")},
        **{name: [] for name in ("unexpected", "early", "failed", "duplicated", "lost", "untold")},
    }


def test_elements_are_lost_doubled_and_made_up(history):
    """Jepsen's test calls lost what the dequeue of process 4, which never ends, may have taken."""
    hung = (1, "invoke", "enqueue", "hung"), (1, "info", "enqueue", "hung")
    ops = history(*hung, *enqueued("enqueued", "dup"), (4, "invoke", "dequeue", None), *dequeued("wtf", "dup", "dup"))

    result = total_queue(ops)

    assert result.valid == "invalid"
    assert result.message == "1 element came out that nobody enqueued"
    assert (result.evidence["lost"], result.evidence["untold"]) == ([], ["enqueued"])
    assert result.evidence["unexpected"] == ["wtf"]
    assert result.evidence["duplicated"] == ["dup"]
    assert result.evidence["recovered"] == []
    assert result.evidence["ok_count"] == 1
    ops = [op for op in ops if op.process != 4]
    assert (
        total_queue(ops).message == "1 of 2 elements enqueued never came out; 1 element came out that nobody enqueued"
    )


def test_what_comes_out_twice_is_counted_and_no_error(history):
    result = total_queue(history(*enqueued(1), *dequeued(1, 1)))

    assert (result.valid, result.evidence["duplicated"]) == ("valid", [1])


def test_a_drain_is_as_many_dequeues(history):
    drained = (3, "invoke", "drain", None), (3, "ok", "drain", [2, 1])

    assert total_queue(history(*enqueued(1, 2), *drained)).valid == "valid"
    assert total_queue(history(*enqueued(1, 2, 3), *drained)).evidence["lost"] == [3]


DRAIN = (3, "invoke", "drain", None)


@pytest.mark.parametrize("end", [[(4, "info", "drain", None)], []])
def test_a_drain_of_unknown_end_may_have_taken_everything(history, end):
    crashed = (4, "invoke", "drain", None), *end
    result = total_queue(history(*enqueued(1, 2, 3), *crashed, DRAIN, (3, "ok", "drain", [3])))

    assert (result.valid, result.evidence["untold"], result.evidence["lost"]) == ("unknown", [1, 2], [])
    assert result.unknown_because == "a drain of unknown end may have taken 2 elements that never came out"


@pytest.mark.parametrize("end", [[(4, "info", "dequeue", None)], []])
def test_a_dequeue_of_unknown_end_may_have_taken_one(history, end):
    crashed = (4, "invoke", "dequeue", None), *end
    one = total_queue(history(*enqueued(1, 2), *crashed, DRAIN, (3, "ok", "drain", [2])))
    two = total_queue(history(*enqueued(1, 2), *crashed, DRAIN, (3, "ok", "drain", [])))

    assert (one.valid, one.evidence["untold"]) == ("unknown", [1])
    assert one.unknown_because == "a dequeue of unknown end may have taken 1 element that never came out"
    assert (two.valid, two.evidence["lost"], two.evidence["certainly_lost_count"]) == ("invalid", [1, 2], 1)
    assert two.message == "2 of 2 elements enqueued never came out (a dequeue of unknown end may have taken 1 of them)"


def test_a_dequeue_that_began_after_the_last_drain_has_taken_nothing_of_what_that_lacks(history):
    halves = *enqueued(1), DRAIN, (3, "ok", "drain", []), (4, "invoke", "dequeue", None)

    assert total_queue(history(*halves)).evidence["lost"] == [1]


@pytest.mark.parametrize(
    "halves",
    [
        [DRAIN, (3, "ok", "drain", []), *enqueued(1)],
        [DRAIN, *enqueued(1), (3, "ok", "drain", [])],
        [(1, "invoke", "enqueue", 1), DRAIN, (1, "ok", "enqueue", 1), (3, "ok", "drain", [])],
    ],
)
def test_what_was_enqueued_when_the_last_drain_had_begun_is_not_lost(history, halves):
    result = total_queue(history(*enqueued(0), *dequeued(0), *halves))

    assert (result.valid, result.evidence["untold"]) == ("unknown", [1])
    assert result.unknown_because == "1 element enqueued only when the last drain had begun and never came out"


def test_a_drain_tells_more_than_a_dequeue_after_it(history):
    drained = DRAIN, (3, "ok", "drain", [])

    assert total_queue(history(*drained, *enqueued(1, 2), *dequeued(2))).valid == "unknown"
    assert total_queue(history(*enqueued(1, 2), *dequeued(2))).evidence["lost"] == [1]


@pytest.mark.parametrize(("error", "valid"), [(None, "invalid"), ("empty", "invalid"), ("timed-out", "unknown")])
def test_a_dequeue_that_found_nothing_tells_that_the_queue_is_empty(history, error, valid):
    ops = history(
        *enqueued(1), *dequeued(1), *enqueued(2), (2, "invoke", "dequeue", None), (2, "fail", "dequeue", None)
    )
    ops[-1] = ops[-1]._replace(error=error)

    assert total_queue(ops).valid == valid


def test_what_came_out_before_its_enqueue_began_nobody_could_have_had(history):
    result = total_queue(history(*dequeued(1), *enqueued(1), DRAIN, (3, "ok", "drain", [])))

    assert (result.valid, result.evidence["early"], result.evidence["unexpected"]) == ("invalid", [1], [])
    assert result.message == "1 element came out before anybody had begun to enqueue it"
    during = history(
        (2, "invoke", "dequeue", None), (1, "invoke", "enqueue", 1), (2, "ok", "dequeue", 1), (1, "ok", "enqueue", 1)
    )
    assert total_queue(during).valid == "valid"


def test_what_came_out_as_its_enqueue_began_is_concurrent_unless_the_order_is_listed(history):
    ops = [op._replace(time=min(op.time, 2000)) for op in history(*dequeued(1), *enqueued(1))]

    assert total_queue(ops).valid == queue(ops).valid == "valid"
    assert total_queue(ops, ties="listed").valid == queue(ops, ties="listed").valid == "invalid"


def test_what_failed_to_go_in_does_not_come_out(history):
    failed = (1, "invoke", "enqueue", 1), (1, "fail", "enqueue", 1)
    result = total_queue(history(*failed, *dequeued(1)))

    assert (result.valid, result.evidence["failed"]) == ("invalid", [1])
    assert result.message == "1 element came out though its enqueue failed"
    assert queue(history(*failed, *dequeued(1))).valid == "invalid"
    assert total_queue(history(*failed, *enqueued(1), *dequeued(1))).valid == "valid"


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
