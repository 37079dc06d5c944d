"""Delta debugging."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.harness.search.shrink.ddmin import ddmin, without_pairs

LENGTHS = st.integers(1, 60)


@given(st.data(), LENGTHS)
def test_what_is_planted_is_found_and_nothing_else(data, length):
    planted = data.draw(st.sets(st.integers(0, length - 1), max_size=6))
    assert ddmin(range(length), lambda left: planted <= set(left)) == sorted(planted)


@given(st.data(), LENGTHS)
def test_of_several_causes_one_is_left_in_order(data, length):
    causes = data.draw(st.lists(st.sets(st.integers(0, length - 1), min_size=1, max_size=4), min_size=1, max_size=3))
    left = ddmin(range(length), lambda left: any(cause <= set(left) for cause in causes))
    assert set(left) in causes
    assert left == sorted(left)


@given(st.data(), LENGTHS)
def test_whatever_holds_no_single_item_can_go(data, length):
    """Also if it is not monotone: of some parts it holds, and of smaller ones again."""
    parts = data.draw(st.lists(st.frozensets(st.integers(0, length - 1)), max_size=20))
    good = {frozenset(range(length)), *parts}
    left = ddmin(range(length), lambda left: frozenset(left) in good)
    assert frozenset(left) in good
    assert all(frozenset(left) - {item} not in good for item in left)


def test_a_needle_among_a_thousand_takes_few_questions():
    asked = []
    ddmin(range(1_000), lambda left: asked.append(left) or 613 in left)
    assert len(asked) < 60


def test_what_is_known_is_not_asked():
    asked = []
    ddmin("abc", lambda left: asked.append(left) or False)
    assert list("abc") not in asked


def test_nothing_is_left_of_what_needs_nothing():
    assert ddmin(range(20), lambda _: True) == []
    assert ddmin([], lambda _: True) == []


def test_what_undoes_each_other_goes_together():
    nested = ["a", "stop", "b", "start", "c"]

    def holds(left):
        return {"a", "b", "c"} <= set(left) and ("stop" in left) == ("start" in left)

    assert ddmin(nested, holds) == nested
    assert without_pairs(nested, holds) == ["a", "b", "c"]


def test_pairs_are_for_few():
    assert without_pairs(range(9), lambda left: len(left) % 2) == list(range(9))
