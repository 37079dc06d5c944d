"""Who is eligible by KIP-966 stays so until something takes it away."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
THERE = [(0, 0, "register", "", broker, broker, True) for broker in (1, 2, 3)]
ALL = (1, 0, "elect", P, 1, 0, (1, 2, 3), (), "initial", True, 0)


def change(time, isr, elr=()):
    return (time, 0, "isr-change", P, isr, elr, time)


def unclean(time, broker):
    return (time, 0, "register", "", broker, time, False)


def found(*trace, min_isr=2):
    told = check(History.of(trace=trace, replicas={P: [1, 2, 3]}, min_isr=min_isr)).named("elr-forgotten")
    return [(one.verdict, one.time, tuple(one.evidence["brokers"])) for one in told]


def test_who_leaves_an_isr_that_is_too_small_is_eligible():
    assert found(*THERE, ALL, change(5, (1, 2)), change(6, (1,), (2,)), change(7, (), (1, 2))) == []
    assert found(*THERE, ALL, change(5, (1, 2)), change(6, (1,), (2,)), change(7, (), (1,))) == [("violation", 7, (2,))]
    assert found(*THERE, ALL, change(5, (1, 2), ()), change(6, (1,)), change(7, (), (1,))) == [("violation", 6, (2,))]


def test_who_left_while_there_were_enough_is_not():
    assert found(*THERE, ALL, change(5, (1, 2)), change(6, (1,), (2,)), change(7, (1,), (2,))) == []


def test_when_there_are_enough_again_nobody_is():
    assert found(*THERE, ALL, change(5, (1,), (2, 3)), change(6, (1, 2)), change(7, (1,), (2,))) == []


def test_an_unclean_end_takes_it_away_until_it_is_in_the_isr_again():
    begun = (*THERE, ALL, change(5, (1,), (2, 3)), unclean(6, 2), change(7, (1,), (3,)))

    assert found(*begun) == []
    assert found(*begun, change(8, (1, 2)), change(9, (1,), (2,)), change(10, (1,))) == [("violation", 10, (2,))]


def test_a_controller_may_do_first_what_it_does_because_somebody_registers():
    assert found(*THERE, ALL, change(5, (1,), (2, 3)), change(6, (1,), (3,)), unclean(6, 2)) == []


def test_one_that_is_unclean_while_it_is_still_in_the_isr_proves_nothing():
    assert found(*THERE, ALL, unclean(5, 2), change(6, (1, 2)), change(7, (1,)), change(8, (), (1,))) == []


def test_who_is_no_replica_any_more_is_not_eligible():
    moved = (6, 0, "reassign", P, (1, 3), (), ())

    assert found(*THERE, ALL, change(5, (1,), (2, 3)), moved, change(7, (1,), (3,))) == []


@pytest.mark.parametrize("how", ["last-known", "unclean"])
def test_after_an_election_that_is_not_clean_nothing_is_expected(how):
    elected = (7, 0, "elect", P, 1, 1, (1,), (), how, False, 7)

    assert found(*THERE, ALL, change(5, (1,), (2, 3)), elected) == []


def test_a_clean_election_forgets_nobody():
    assert found(*THERE, ALL, change(5, (1,), (2, 3)), (7, 0, "elect", P, -1, 1, (), (1,), "offline", True, 7)) == [
        ("violation", 7, (2, 3))
    ]


def test_where_nobody_is_ever_eligible_or_nobody_registers_nothing_is_judged():
    assert found(*THERE, ALL, change(5, (1,)), change(6, ())) == []
    assert found(ALL, change(5, (1,), (2, 3)), change(6, (1,))) == []


def test_min_isr_is_no_more_than_there_are_replicas():
    assert found(*THERE, ALL, change(5, (1, 2), (3,)), change(6, (1, 2)), min_isr=5) == [("violation", 6, (3,))]
    assert found(*THERE, ALL, change(5, (1, 2), (3,)), change(6, (1, 2, 3)), min_isr=5) == []


def set_to(time, min_isr):
    return (time, 0, "min-isr", "", min_isr)


def test_when_min_isr_is_set_the_elr_may_be_forgotten_while_the_isr_has_a_member():
    begun = (*THERE, ALL, change(5, (1,), (2, 3)), set_to(6, 3))

    assert found(*begun, change(6, (1,))) == []
    assert found(*begun, change(6, (1,)), change(7, (), (1,))) == []


def test_and_may_not_where_nobody_is_in_the_isr():
    begun = (*THERE, ALL, change(5, (1,), (2, 3)), change(6, (), (1, 2, 3)))

    assert found(*begun, set_to(7, 1), change(7, ())) == [("violation", 7, (1, 2, 3))]
    assert found(*begun, set_to(7, 1), change(7, (), (1, 2, 3))) == []


def test_only_the_first_change_after_it_is_excused():
    begun = (*THERE, ALL, change(5, (1,), (2, 3)), set_to(6, 3))

    assert found(*begun, change(6, (1,), (2, 3)), change(7, (1,), (3,))) == [("violation", 7, (2,))]


def switched(time, on):
    return (time, 0, "elr-switch", "", on)


def test_while_elr_is_off_nobody_need_be_eligible_who_leaves_the_isr():
    begun = (*THERE, ALL, switched(4, False))

    assert found(*begun, change(5, (1, 2), (3,)), change(6, (1,))) == []


def test_but_somebody_must_be_left_who_may_lead():
    begun = (*THERE, ALL, change(5, (1,), (2, 3)), change(6, (), (1, 2, 3)), switched(7, False))

    assert found(*begun, change(8, ())) == [("violation", 8, (1, 2, 3))]
    assert found(*begun, change(8, (1,))) == []


def test_and_when_it_is_on_again_all_is_as_before():
    begun = (*THERE, ALL, change(4, (1, 2), (3,)), switched(5, False), switched(6, True))

    assert found(*begun, change(7, (1,), (3,))) == [("violation", 7, (2,))]


def test_the_min_isr_that_was_set_is_the_one_that_counts():
    begun = (*THERE, ALL, set_to(4, 1), change(5, (1, 2)))

    assert found(*begun, change(6, (1,), (2,)), change(7, (1,))) == []
    assert found(*begun, set_to(6, 2), change(6, (1, 2)), change(7, (1,), (2,)), change(8, (1,))) == [
        ("violation", 8, (2,))
    ]


def test_before_it_is_switched_on_for_the_first_time_nobody_need_be_eligible():
    """As in an upgrade: ELR comes with the newer release's features."""
    upgraded = (switched(20, True), change(30, (1, 2)), change(31, (1,), (2,)), change(32, (1,)))

    assert found(*THERE, ALL, change(5, (1, 2)), change(6, (1,)), *upgraded) == [("violation", 32, (2,))]
