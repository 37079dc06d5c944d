"""Who holds a partition in the end is who an operator ordered last; and a reassignment with nothing left to wait for ends."""

import pytest

from tidemark.checkers import History, check

P = "t-0"
SECOND = 1_000_000
MADE = (5, 0, "elect", P, 1, 0, (1, 2, 3), (), "initial", True, 0)
TO_4 = [(10, 0, "ordered", P, (4,), True), (10, 0, "reassign", P, (4, 1, 2, 3), (4,), (1, 2, 3))]
TO_ALL = [(20, 0, "ordered", P, (1, 2, 3, 4), True), (20, 0, "reassign", P, (1, 2, 3, 4), (4,), (1, 2, 3))]
ONLY_4 = (30, 0, "reassign", P, (4,), (), ())
TO_124 = [(10, 0, "ordered", P, (1, 2, 4), True), (10, 0, "reassign", P, (1, 2, 4, 3), (4,), (3,))]
BACK = [(20, 0, "ordered", P, (1, 2, 3), True), (20, 0, "reassign", P, (1, 2, 3, 4), (4,), (4,))]
ALL_IN_SYNC = (25, 0, "isr-change", P, (1, 2, 3, 4), (), 2)
NOT_AT_REST = (90, 0, "converged", P, False, "still being reassigned")
AT_REST = (90, 0, "converged", P, True, "")


def found(*trace, **meta):
    history = History.of(trace=[MADE, *trace], replicas={P: [1, 2, 3]}, **meta)
    return [anomaly for anomaly in check(history).anomalies if anomaly.name == "reassignment"]


# Disobeyed


def test_an_order_that_takes_the_place_of_another_and_is_not_carried_out():
    (anomaly,) = found(*TO_4, *TO_ALL, ONLY_4)

    assert (anomaly.verdict, anomaly.time, anomaly.partition) == ("violation", 30, P)
    assert anomaly.evidence["ordered"] == [1, 2, 3, 4]
    assert anomaly.evidence["replicas"] == [4]
    assert anomaly.evidence["trace_index"] == 3


def test_one_under_way_that_is_to_end_otherwise_is_disobeyed_already():
    (anomaly,) = found(*TO_4, *TO_ALL)

    assert anomaly.message.endswith("since 0.000020 s a reassignment is under way that is to end with [4].")


def test_an_order_that_changes_nothing_is_disobeyed_if_what_is_under_way_is_another():
    """The intermediate set, as tools read it: KRaft writes nothing, for nothing would change."""
    assert found(*TO_4, (20, 0, "ordered", P, (4, 1, 2, 3), True), ONLY_4)


def test_one_that_is_carried_out_is_no_anomaly():
    assert not found(*TO_4, ONLY_4, AT_REST)
    assert not found(*TO_4, TO_ALL[0], (20, 0, "reassign", P, (1, 2, 3, 4), (), ()), AT_REST)


def test_the_order_of_the_replicas_is_nobodys_promise_here():
    assert not found((10, 0, "ordered", P, (3, 2, 1), True), AT_REST)


def test_only_the_last_order_counts():
    assert not found(*TO_4, *TO_ALL, (40, 0, "ordered", P, (4,), True), (50, 0, "reassign", P, (4,), (), ()))


def test_an_order_of_another_partition_says_nothing_of_this_one():
    assert not found((20, 0, "ordered", "t-1", (1, 2, 3, 4), True), *TO_4, ONLY_4)


def test_a_refused_order_is_none():
    """Nobody traces one."""
    refused = {"time": 20, "partition": P, "how": "reassignment", "target": [1, 2, 3, 4], "why": "no such broker"}

    assert not found(*TO_4, ONLY_4, refused=[refused])


@pytest.mark.parametrize("unanswered_at", [15, 25])
def test_an_order_that_nobody_answered_may_have_been_taken_then_or_later(unanswered_at):
    unanswered = (unanswered_at, 0, "ordered", P, (4,), False)
    to_all = (20, 0, "ordered", P, (1, 2, 3, 4), True)

    assert not found(*sorted([unanswered, to_all]), ONLY_4)
    assert found(*sorted([unanswered, to_all]), (30, 0, "reassign", P, (3,), (), ()))


def test_without_an_accepted_order_nothing_is_judged():
    assert not found((10, 0, "ordered", P, (1, 2, 4), False), ONLY_4)
    assert not found(TO_4[1], ONLY_4)


def test_one_that_is_taken_back_leaves_the_replicas_from_before():
    taken_back = (20, 0, "ordered", P, (), True)

    assert not found(*TO_4, taken_back, (20, 0, "reassign", P, (1, 2, 3), (), ()))
    (anomaly,) = found(*TO_4, taken_back, ONLY_4)
    assert anomaly.evidence["ordered"] == [1, 2, 3]


def test_what_several_machines_wrote_has_two_seconds_to_come_in_order():
    assert not found(*TO_4, *TO_ALL, ONLY_4, AT_REST, world="docker")
    assert found(*TO_4, *TO_ALL, ONLY_4, (3 * SECOND, 0, "converged", P, True, ""), world="docker")


AS_4_3_1_TOLD = [
    (0, 0, "elect", P, 1, 0, (1, 2, 3), (), "initial", True, 0),
    (8_600_000, 0, "ordered", P, (4,), True),
    (8_600_000, 0, "reassign", P, (4, 1, 2, 3), (4,), (1, 2, 3)),
    (9_770_658, 0, "ordered", P, (1, 2, 3, 4), True),
    (9_770_658, 0, "reassign", P, (1, 2, 3, 4), (4,), (1, 2, 3)),
    (22_165_873, 0, "reassign", P, (4,), (), ()),
    (22_165_873, 0, "elect", P, 4, 1, (4,), (), "reassigned", True, 3),
    (26_000_000, 0, "converged", P, True, ""),
]


def test_what_real_brokers_told_of_one_that_took_the_place_of_another():
    (anomaly,) = found(*AS_4_3_1_TOLD, world="docker")

    assert (anomaly.time, anomaly.evidence["ordered"], anomaly.evidence["replicas"]) == (22_165_873, [1, 2, 3, 4], [4])


def test_one_order_at_a_time_is_no_anomaly_on_real_brokers():
    assert not found(*AS_4_3_1_TOLD[:3], *AS_4_3_1_TOLD[5:], world="docker")


def test_the_end_of_the_former_one_may_be_told_behind_the_next_order():
    """It is logged while the next one is on its way."""
    next_one = [(8_700_000, 0, "ordered", P, (1, 2), True), AS_4_3_1_TOLD[5]]
    carried_out = [(23_000_000, 0, "reassign", P, (1, 2), (), ()), AS_4_3_1_TOLD[7]]

    assert not found(*AS_4_3_1_TOLD[:3], *next_one, *carried_out, world="docker")


def test_a_controller_that_changes_in_between_excuses_nothing():
    changes = [(21, 0, "stop", "", "crash"), (22, 0, "start", "", 2)]

    assert found(*TO_4, *TO_ALL, *changes, ONLY_4)


# Never ends


def test_one_whose_replicas_are_all_in_sync_and_that_does_not_end():
    (anomaly,) = found(*TO_124, *BACK, ALL_IN_SYNC, NOT_AT_REST)

    assert (anomaly.time, anomaly.evidence["under_way"]) == (25, True)
    assert anomaly.message.endswith("all of them are in the ISR since 0.000025 s, and at 0.000090 s it has not ended.")


def test_who_is_not_in_sync_may_keep_it_waiting_for_ever():
    """Its broker is down for ever, for one."""
    assert not found(*TO_124, NOT_AT_REST)
    assert found(*TO_124, (25, 0, "isr-change", P, (1, 2, 4), (), 2), NOT_AT_REST)


def test_nobody_can_say_so_before_anybody_looked_whether_all_is_at_rest():
    assert not found(*TO_124, *BACK, ALL_IN_SYNC)


def test_on_machines_it_has_two_seconds():
    late = (3 * SECOND, 0, "converged", P, False, "still being reassigned")

    assert not found(*TO_124, *BACK, ALL_IN_SYNC, NOT_AT_REST, world="docker")
    assert found(*TO_124, *BACK, ALL_IN_SYNC, late, world="docker")


# Taken back


TAKEN_BACK = [(20, "strike", 0, "reassignment-taken-back", {"node": 1, "partition": P, "under_way": [4]})]
ACCEPTED = (20, 0, "ordered", P, (), True)
WENT_BACK = (20, 0, "reassign", P, (1, 2, 3), (), ())


def refused(*trace, **meta):
    told = found(*trace, **{"nemesis": TAKEN_BACK, "replaces": True, **meta})
    return [anomaly.time for anomaly in told if "that was refused" in anomaly.message]


def test_what_is_under_way_can_be_taken_back():
    assert refused(*TO_4) == [20]
    assert refused(*TO_4, (15, 0, "isr-change", P, (1, 4), (), 1), min_isr=1) == [20]
    assert found(*TO_4, nemesis=TAKEN_BACK, replaces=True)[0].evidence["trace_index"] == 2
    assert refused(*TO_4, ACCEPTED, WENT_BACK) == []


@pytest.mark.parametrize(
    "trace",
    [
        [],
        [*TO_4, (15, 0, "reassign", P, (4,), (), ())],
        [*TO_4, (15, 0, "isr-change", P, (4,), (), 1)],
        [*TO_4, (15, 0, "isr-change", P, (), (1,), 1)],
        [*TO_4, (15, 0, "isr-change", P, (1, 4), (), 1)],
        [*TO_4, (15, 0, "stop", "", "crash")],
    ],
    ids=[
        "none-was-ordered",
        "over",
        "only-new-ones-in-sync",
        "nobody-in-sync",
        "below-min-isr-without-them",
        "no-controller",
    ],
)
def test_but_not_where_there_is_nothing_to_take_back_or_nobody_to_do_it(trace):
    assert refused(*trace, min_isr=2) == []


def test_nor_before_kip_455_and_several_clocks_tell_nothing():
    assert refused(*TO_4, replaces=False) == []
    assert refused(*TO_4, world="docker") == []
    assert refused(*TO_4, (15, 0, "stop", "", "crash"), (16, 0, "start", "", 2)) == [20]
