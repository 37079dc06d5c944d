"""What a run's anomalies may have begun with: the smallest traces that show two of them, and that do not."""

import pytest

from tidemark.checkers import History, check
from tidemark.harness.search.shrink.origin import NOBODY_LEFT, STALE_LOG_START, SWITCHED_ELR, origins_of

APPENDED = (1, 1, "append", "t-0", 0, 2, (7, 8))


def origins(*trace):
    history = History.of(replicas={"t-0": [1, 2]}, trace=trace)
    return [one.sentence for one in origins_of(history, check(history))]


@pytest.mark.parametrize(("end", "start", "expected"), [(5, 5, [STALE_LOG_START]), (2, 0, []), (2, 2, [])])
def test_a_recovery_beyond_where_the_log_had_ended_deleted_it(end, start, expected):
    recovered = (3, 1, "recovered", "t-0", end, 0, 0)

    assert (
        origins(APPENDED, (2, 1, "stop", "", "crash"), recovered, (3, 1, "log-start", "t-0", start, 0, "recovered"))
        == expected
    )


@pytest.mark.parametrize("instead", [((1, 2), (), ()), ((1, 4, 2), (4,), (2,))])
@pytest.mark.parametrize(("isr", "expected"), [((3,), [NOBODY_LEFT]), ((1, 3), [])])
def test_a_reassignment_that_is_taken_back_or_replaced_leaves_somebody_in_sync(isr, expected, instead):
    ordered = (0, 0, "reassign", "t-0", (1, 2, 3), (3,), (2,))
    elected = (2, 0, "elect", "t-0", -1, 1, isr, (), "offline", True, 1)

    assert origins(ordered, (2, 0, "reassign", "t-0", *instead), elected) == expected


def lost(time, isr, elr=()):
    return (time, 0, "elect", "t-0", -1, 1, isr, elr, "offline", True, 1)


def leads(time, leader, how="online"):
    return (time, 0, "elect", "t-0", leader, 2, (leader,), (), how, how != "last-known", 2)


def switched(time, on):
    return (time, 0, "elr-switch", "", on)


NOBODY = (7, 0, "isr-change", "t-0", (), (), 2)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ((lost(2, (), (1,)), switched(3, False), NOBODY), [SWITCHED_ELR]),
        ((lost(2, (), ()), switched(3, False)), [SWITCHED_ELR]),
        ((switched(1, False), lost(2, (1,)), switched(3, True), NOBODY), [SWITCHED_ELR]),
        ((switched(1, False), switched(2, True), lost(3, (), (1,)), NOBODY), []),
        ((switched(1, False), lost(2, (1,)), leads(3, 1), switched(4, True), lost(5, (), (1,)), NOBODY), []),
        ((lost(2, (), (1,)), NOBODY), []),
        ((leads(1, 2), switched(2, False), switched(3, True), leads(8, 1, "last-known")), [SWITCHED_ELR]),
        ((leads(1, 2), switched(2, False), switched(3, True), leads(8, 2, "last-known")), []),
        ((leads(1, 2), leads(8, 1, "last-known")), []),
    ],
)
def test_when_elr_is_switched_it_must_still_be_known_who_can_lead(trace, expected):
    assert origins(*trace) == expected
