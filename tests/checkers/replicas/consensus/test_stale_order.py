"""Leaders that carry out an order which was replaced before they led."""

import pytest

from tidemark.checkers import History, check

META = {"isr": False, "contract": "majority", "replicas": {"t-0": [1, 2, 3]}}
LEADS = (60, 1, "lead", "t-0", 3, 4, 4, ())


def found(*trace, orders, **meta):
    nemesis = [
        (at, "strike", index, "reassignment", {"partition": "t-0", "replicas": wanted})
        for index, (at, wanted) in enumerate(orders)
    ]
    told = check(History.of(trace=sorted([LEADS, *trace]), nemesis=nemesis, **META | meta)).anomalies
    return [(one.evidence["before"], one.evidence["members"]) for one in told if one.name == "stale-order"]


def changes(to, offset=5, at=70, generation=3, *, committed=False):
    return (at, 1, "members", "t-0", to, offset, generation, committed)


ADDS = [(15, [1, 2, 3, 4]), (30, [1, 2, 3])]


def test_an_order_that_was_replaced_before_the_reign_is_nobodys():
    assert found(changes((1, 2, 3, 4)), orders=ADDS) == [([1, 2, 3], [1, 2, 3, 4])]


@pytest.mark.parametrize("replaced", [60, 65, 80], ids=["as-it-begins", "in-it", "later"])
def test_what_was_wanted_in_the_reign_may_be_carried_out(replaced):
    assert found(changes((1, 2, 3, 4)), orders=[(15, [1, 2, 3, 4]), (replaced, [1, 2, 3])]) == []


def test_an_order_that_comes_later_is_no_reason():
    assert found(changes((1, 2, 3, 4)), orders=[(71, [1, 2, 3, 4])]) == [([1, 2, 3], [1, 2, 3, 4])]
    assert found(changes((1, 2, 3, 4)), orders=[(70, [1, 2, 3, 4])]) == []


def test_who_is_wanted_does_not_go_and_who_is_not_may():
    assert found(changes((1, 2)), orders=[(15, [1, 2])]) == []
    assert found(changes((1, 2)), orders=[(15, [1, 3])]) == [([1, 2, 3], [1, 2])]


def test_a_change_begins_from_the_newest_group_that_is_committed_before_it():
    steps = [changes((1, 2, 3, 4)), changes((1, 2, 3, 4), at=71, committed=True), changes((1, 2, 4), 6, 72)]
    order = [(15, [1, 2, 4])]

    assert found(*steps, orders=order) == []
    assert found(*steps, changes((2, 4), 7, 73), orders=order) == [([1, 2, 3, 4], [2, 4])]


def test_where_no_order_is_known_nothing_is_told():
    assert found(changes((1, 2, 3, 4)), orders=[]) == []


def test_of_a_reign_that_nobody_saw_begin_and_of_several_clocks_nothing_is_told():
    assert found(changes((1, 2, 3, 4), generation=9), orders=ADDS) == []
    assert found(changes((1, 2, 3, 4)), orders=ADDS, world="docker") == []


@pytest.mark.parametrize(("how", "told"), [("disk", 0), ("damage", 0), ("crash", 1)])
def test_where_a_disk_was_lost_nobody_knows_which_group_is_committed(how, told):
    assert len(found((65, 2, "stop", "", how), changes((1, 2, 3, 4)), orders=ADDS)) == told
