"""Leader epochs of one run in the numbers of another."""

import pytest

from tidemark.harness.conform.epochs import NOBODY, Reign, merged, reigns, renumber


def reign(epoch, leader, *values):
    return Reign(epoch, leader, frozenset(values))


def test_epochs_come_from_elections_and_from_what_was_written():
    trace = [
        (1, 0, "elect", "t-0", 1, 0, (1, 2), (), "initial", True, 1),
        (2, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
        (3, 1, "append", "t-0", 0, 0, (11, 12)),
        (4, 2, "append", "t-0", 0, 0, (11, 12)),
        (5, 0, "elect", "t-0", -1, 1, (2,), (), "offline", True, 2),
        (6, 0, "elect", "t-0", 2, 2, (2,), (), "online", True, 3),
        (7, 2, "append", "t-0", 2, 2, (13,)),
    ]

    assert reigns(trace) == [reign(0, 1, 11, 12), reign(1, NOBODY), reign(2, 2, 13)]


def test_equal_epochs_keep_their_numbers():
    own = [reign(0, 1, 11), reign(1, 2, 12)]

    numbers = renumber(own, own)

    assert numbers.codes == {0: 0, 1: 1}
    assert numbers.spent == ()


def test_records_say_which_epoch_is_which():
    numbers = renumber([reign(0, 1, 11), reign(1, 2, 12)], [reign(4, 1, 11), reign(9, 2, 12)])

    assert numbers.codes == {4: 0, 9: 1}


def test_an_epoch_without_records_is_known_by_its_leader():
    numbers = renumber([reign(0, 1), reign(1, 2), reign(2, 1, 13)], [reign(0, 1), reign(3, 2), reign(4, 1, 13)])

    assert numbers.codes == {0: 0, 3: 1, 4: 2}


def test_an_epoch_that_a_leader_spends_is_its_own_still():
    numbers = renumber([reign(0, 1, 11), reign(1, 2, 12)], [reign(0, 1, 11), reign(1, 1), reign(2, 2, 12)])

    assert numbers.codes == {0: 0, 1: 0, 2: 1}
    assert numbers.spent == ("1 (the same leader)",)


def test_an_epoch_that_a_leader_spends_before_its_first_record_is_its_own_as_well():
    numbers = renumber([reign(0, 1, 11), reign(1, 2, 12)], [reign(0, 1, 11), reign(1, 2), reign(2, 2, 12)])

    assert numbers.codes == {0: 0, 1: 1, 2: 1}
    assert numbers.spent == ("1 (the same leader)",)


def test_records_of_one_epoch_may_lie_in_two_of_the_same_leader():
    numbers = renumber([reign(0, 1, 11, 12)], [reign(0, 1, 11), reign(1, 1, 12)])

    assert numbers.codes == {0: 0, 1: 0}


@pytest.mark.parametrize(("leader", "words"), [(NOBODY, "nobody"), (3, "another leader")])
def test_an_epoch_of_nobody_or_of_another_is_named_after_the_one_before(leader, words):
    numbers = renumber([reign(0, 1, 11), reign(1, 2, 12)], [reign(0, 1, 11), reign(1, leader), reign(2, 2, 12)])

    assert numbers.told(f"{numbers.code(0)}@0 {numbers.code(1)}@1 {numbers.code(2)}@1") == "0@0 0+@1 1@1"
    assert numbers.spent == (f"1 ({words})",)


def test_two_leaders_records_are_never_one_epoch():
    numbers = renumber([reign(0, 1, 11), reign(1, 2, 12)], [reign(0, 1, 11, 12)])

    assert numbers.codes == {0: 0}


def test_what_nobody_led_or_wrote_in_goes_with_the_one_before():
    numbers = renumber([reign(1, 1, 11)], [reign(5, 1, 11)])

    assert [numbers.code(epoch) for epoch in (-1, 4, 5, 6)] == [-1, 4, 1, 1]


def test_a_cache_tells_neighbours_of_one_number_once():
    assert merged([(0, 0), (0, 2), (1, 3), (1, 3)]) == ((0, 0), (1, 3))
    assert merged([]) == ()
