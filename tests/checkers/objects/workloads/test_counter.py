"""Counters, as Jepsen's own tests of its checker have them."""

import pytest

from tidemark.checkers.objects.workloads import counter


def errors(result):
    return [(one["least"], one["read"], one["most"]) for one in result.evidence["errors"]]


def test_of_a_counter_that_nobody_read_nothing_is_known(history):
    """Jepsen's checker says valid of an empty history."""
    assert counter([]).unknown_because == "no read succeeded"
    assert counter(history((0, "invoke", "add", 1), (0, "ok", "add", 1))).valid == "unknown"


def test_the_first_read_is_zero(history):
    assert counter(history((0, "invoke", "read", None), (0, "ok", "read", 0))).valid == "valid"
    result = counter(history((0, "invoke", "read", None), (0, "ok", "read", 1)))
    assert (result.valid, errors(result)) == ("invalid", [(0, 1, 0)])


def test_an_add_that_failed_did_not_happen(history):
    add = (0, "invoke", "add", 1), (0, "fail", "add", 1), (0, "invoke", "read", None)

    assert counter(history(*add, (0, "ok", "read", 0))).valid == "valid"
    assert counter(history(*add, (0, "ok", "read", 1))).valid == "invalid"


@pytest.mark.parametrize("end", [[], [(0, "info", "add", 1)]])
def test_an_add_without_an_answer_may_have_happened(history, end):
    begin = [(0, "invoke", "add", 1), *end, (1, "invoke", "read", None)]

    assert counter(history(*begin, (1, "ok", "read", 0))).valid == "valid"
    assert counter(history(*begin, (1, "ok", "read", 1))).valid == "valid"
    assert counter(history(*begin, (1, "ok", "read", 2))).valid == "invalid"


def test_concurrent_reads_lie_between_what_was_added_and_what_may_have_been(history):
    ops = history(
        *[(0, "invoke", "read", None), (1, "invoke", "add", 1), (2, "invoke", "read", None), (3, "invoke", "add", 2)],
        *[(4, "invoke", "read", None), (5, "invoke", "add", 4), (6, "invoke", "read", None), (7, "invoke", "add", 8)],
        *[(8, "invoke", "read", None), (0, "ok", "read", 6), (1, "ok", "add", 1), (2, "ok", "read", 0)],
        *[(3, "ok", "add", 2), (4, "ok", "read", 3), (5, "ok", "add", 4), (6, "ok", "read", 100)],
        *[(7, "ok", "add", 8), (8, "ok", "read", 15)],
    )

    result = counter(ops)

    assert (result.valid, result.evidence["reads"], errors(result)) == ("invalid", 5, [(0, 100, 15)])


def test_bounds_move_on(history):
    ops = history(
        *[(0, "invoke", "read", None), (1, "invoke", "add", 1), (0, "ok", "read", 0), (0, "invoke", "read", None)],
        *[(1, "ok", "add", 1), (1, "invoke", "add", 2), (0, "ok", "read", 3), (0, "invoke", "read", None)],
        *[(1, "ok", "add", 2), (0, "ok", "read", 5)],
    )

    result = counter(ops)

    assert (result.valid, errors(result)) == ("invalid", [(1, 5, 3)])


@pytest.mark.parametrize("value", [-1, None, "1", True])
def test_what_is_added_is_a_number_from_zero(history, value):
    with pytest.raises(ValueError, match="operation 0: "):
        counter(history((0, "invoke", "add", value)))
