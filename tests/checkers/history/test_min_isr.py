"""What min ISR was in a run in which an operator changed it."""

import pytest

from tidemark.checkers import History
from tidemark.checkers.history.min_isr import MinIsr


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
