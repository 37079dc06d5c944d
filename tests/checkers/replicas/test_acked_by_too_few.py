"""An acknowledgement stands for as many replicas as min ISR."""

import pytest

from tidemark.checkers import History, check, sent

P = "t-0"
LED = [(10, 1, "lead", P, 1, 0, 0, (1, 2, 3)), (20, 1, "append", P, 0, 1, (7, 8))]
SECOND = [(25, 2, "append", P, 0, 1, (7, 8))]
COMMITTED = [(30, 1, "hw", P, 2, 1, True)]


def found(trace, *ops, min_isr=2, **meta):
    history = History.of(ops=ops or [sent(31, "p1", P, 7, 0)], trace=trace, min_isr=min_isr, **meta)
    return [
        (one.verdict, one.time, *(one.evidence[name] for name in ("value", "holders", "count")))
        for one in check(history).named("acked-by-too-few")
    ]


def test_enough_replicas_have_it():
    assert found([*LED, *SECOND, *COMMITTED]) == []
    assert found([*LED, *COMMITTED], min_isr=1) == []


def test_high_watermarks_that_make_no_sense_do_no_harm():
    strange = [(at, 1, "hw", P, hw, 1, True) for at, hw in ((26, -9), (27, -3), (28, 99), (29, -1))]

    assert found([*LED, *SECOND, *strange, *COMMITTED]) == []


def test_the_leader_alone_has_it():
    assert found([*LED, *COMMITTED]) == [("violation", 31, 7, [1], 1)]


def test_two_are_too_few_for_three():
    assert found([*LED, *SECOND, *COMMITTED], min_isr=3) == [("violation", 31, 7, [1, 2], 1)]


def test_once_for_all_records_of_a_partition():
    acked = [sent(31, "p1", P, 7, 0), sent(32, "p1", P, 8, 1)]

    assert found([*LED, *COMMITTED], *acked) == [("violation", 31, 7, [1], 2)]


def test_who_got_it_before_the_acknowledgement_counts_though_it_was_committed_before():
    late = [*LED, *COMMITTED, (31, 2, "append", P, 0, 1, (7, 8))]

    assert found(late, sent(31, "p1", P, 7, 0)) == []
    assert found(late, sent(30, "p1", P, 7, 0)) == [("violation", 30, 7, [1], 1)]


def test_who_had_it_and_lost_it_counts():
    assert found([*LED, *SECOND, (27, 2, "truncate", P, 0, 2, "leader"), *COMMITTED]) == []


def test_another_record_at_the_same_offset_does_not():
    assert found([*LED, (25, 2, "append", P, 0, 1, (5, 6)), *COMMITTED]) == [("violation", 31, 7, [1], 1)]


def test_an_acknowledgement_of_what_was_never_committed():
    assert found(LED) == [("violation", 31, 7, [1], 1)]
    assert found([*LED, *SECOND]) == []


def test_nobody_stands_for_a_record_that_came_later():
    assert found([(10, 1, "lead", P, 1, 0, 0, (1,)), (40, 1, "append", P, 0, 1, (7,))]) == [("violation", 31, 7, [], 1)]


@pytest.mark.parametrize("op", [sent(31, "p1", P, 7, 0, "1"), sent(31, "p1", P, 7), sent(31, "p1", P, 99, 0)])
def test_of_other_acknowledgements_nothing_is_said(op):
    assert found([*LED, *COMMITTED], op) == []


@pytest.mark.parametrize(("world", "count"), [("sim", 1), ("docker", 0)])
def test_clocks_of_several_machines_have_two_seconds(world, count):
    late = [*LED, *COMMITTED, (1_000_000, 2, "append", P, 0, 1, (7, 8))]

    assert len(found(late, world=world)) == count


RAISED = [(12, 0, "min-isr", "", 3), (12, 0, "settings", "", 1)]
HEARD = (15, 1, "settings", "", 1)
LOWERED = [(28, 0, "min-isr", "", 1), (28, 0, "settings", "", 2)]


@pytest.mark.parametrize(
    ("told", "holders"),
    [
        (RAISED, None),
        ([*RAISED, HEARD], [1, 2]),
        ([*RAISED, (15, 2, "settings", "", 1)], None),
        ([*RAISED, (31, 1, "settings", "", 1)], None),
        ([*RAISED, HEARD, (16, 1, "start", "", 2)], None),
        ([*RAISED, HEARD, *LOWERED], None),
        ([*RAISED, HEARD, (32, 0, "min-isr", "", 1), (32, 0, "settings", "", 2)], [1, 2]),
        ([*RAISED, HEARD, (31, 3, "lead", P, 2, 2, 0, (3,))], None),
        ([*RAISED, HEARD, (32, 3, "lead", P, 2, 2, 0, (3,))], [1, 2]),
        ([*RAISED, HEARD, (13, 0, "reassign", P, (1, 2), (), ())], None),
    ],
)
def test_a_leader_goes_by_the_min_isr_that_it_has_heard_of(told, holders):
    """The high watermark moves at 30, and the client has its answer at 31."""
    trace = sorted([*LED, *SECOND, *told, *COMMITTED], key=lambda event: event[0])

    assert [one[3] for one in found(trace)] == ([holders] if holders else [])


def test_who_answered_before_a_change_had_not_heard_of_it():
    """Its successor commits the record once more, and has heard."""
    again = [(32, 2, "lead", P, 2, 2, 0, (1, 2)), (40, 2, "hw", P, 2, 2, True)]
    raised = [(35, 0, "min-isr", "", 3), (35, 0, "settings", "", 1), (36, 2, "settings", "", 1)]
    trace = sorted([*LED, *SECOND, *again, *raised], key=lambda event: event[0])

    assert found(trace) == []
