"""What min ISR was in a run in which an operator changed it."""

import pytest

from tidemark.checkers import History, check, sent
from tidemark.checkers.history.min_isr import MinIsr, fewest_replicas


def of(*details, **meta):
    return MinIsr.of(
        History.of(nemesis=[(at, "strike", at, "min-isr", detail) for at, detail in enumerate(details)], **meta)
    )


def test_without_an_order_it_is_what_the_meta_line_says():
    assert of(min_isr=2) == (2, 2)
    assert of() == (1, 1)


def test_every_order_counts():
    assert of({"min_isr": 1}, {"min_isr": 3}, min_isr=2) == (1, 3)


@pytest.mark.parametrize("detail", [{}, {"min_isr": "3"}, {"min_isr": None}, {"min_isr": True}, {"amount": 3}])
def test_what_says_no_number_does_not(detail):
    assert of(detail, min_isr=2) == (2, 2)


def test_other_faults_do_not():
    assert MinIsr.of(History.of(nemesis=[(1, "strike", 0, "pause", {"min_isr": 1})], min_isr=2)) == (2, 2)


def test_the_fewest_replicas_are_those_that_an_order_leaves():
    events = [
        (1, 0, "reassign", "t-0", (1, 2, 3), (), (3,)),
        (2, 0, "reassign", "t-0", (1, 2), (), ()),
        (3, 0, "reassign", "t-0", (1, 2, 4), (4,), ()),
        (4, 0, "reassign", "t-1", (1, 2, 3, 4), (4,), ()),
    ]

    assert fewest_replicas([*enumerate(events)]) == {"t-0": 2, "t-1": 4}


@pytest.mark.parametrize(("left", "found"), [((1,), 0), ((1, 2), 1)])
def test_a_partition_with_one_replica_is_not_held_to_a_larger_min_isr(left, found):
    trace = [
        (1, 0, "reassign", "t-0", left, (), ()),
        (10, 1, "lead", "t-0", 1, 0, 0, (1,)),
        (20, 1, "append", "t-0", 0, 1, (7,)),
        (30, 1, "hw", "t-0", 1, 1, True),
    ]
    told = check(History.of(min_isr=2, ops=[sent(31, "p1", "t-0", 7, 0)], trace=trace))

    assert len(told.named("acked-by-too-few")) == found
