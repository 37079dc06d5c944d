"""Final reads of one key that ended at different places."""

import pytest

from tidemark.checkers import History, Op, check, deleted, polled, sent

K = "t-0"
TEN = [sent(time, "p1", K, time, time - 1) for time in range(1, 11)]
ALL = [(offset, offset + 1) for offset in range(10)]
SOME = ALL[:7]


def final(time, process, records):
    return polled(time, process, K, *records)._replace(final=True)


def disagree(*ops, nemesis=(), **meta):
    return check(History.of(ops=[*TEN, *ops], nemesis=nemesis, **meta)).named("final-reads-disagree")


def test_one_that_ends_before_another_is_told_once_for_each_key():
    (anomaly,) = disagree(final(20, "f", SOME), final(21, "g", ALL), final(22, "h", SOME))

    assert (anomaly.verdict, anomaly.partition, anomaly.time) == ("violation", K, 21)
    assert anomaly.evidence == {
        "reads": [
            {"process": "f", "began": 20, "ended": 20, "end": 6},
            {"process": "g", "began": 21, "ended": 21, "end": 9},
        ],
        "count": 3,
        "values": [8, 9, 10],
    }


@pytest.mark.parametrize("times", [(20, 21), (21, 20)])
def test_whichever_came_first(times):
    assert len(disagree(final(times[0], "f", SOME), final(times[1], "g", ALL))) == 1


def test_where_they_begin_differs_lawfully_as_retention_goes_on():
    assert disagree(final(20, "f", ALL), final(21, "g", ALL[4:])) == []


def test_while_somebody_wrote_they_may_differ():
    late = Op(30, "p2", "invoke", "send", (("send", K, 99),))

    assert disagree(final(20, "f", SOME), final(21, "g", ALL), late) == []


def test_one_that_did_not_come_to_its_end_is_none():
    open_end = [final(20, "f", SOME[:2]), final(21, "f", SOME[2:])]

    assert disagree(*open_end, final(22, "g", ALL)) == []
    assert disagree(final(20, "f", SOME), final(22, "g", ALL), read_back=False) == []


def test_what_only_the_later_one_could_know_of_is_no_difference():
    """Of this send nobody knew the outcome, and it may have come late."""
    unknown = Op(12, "p2", "info", "send", (("send", K, 99),))

    assert disagree(unknown, final(20, "f", ALL), final(30, "g", [*ALL, (10, 99)])) == []


def test_what_a_client_had_deleted_is_no_difference():
    assert disagree(final(20, "f", ALL), deleted(25, "d1", K, 10), final(30, "g", ())) == []


def test_what_retention_may_have_deleted_nobody_can_judge():
    strike = (25, "strike", 0, "retention", {})
    (anomaly,) = disagree(final(20, "f", ALL), final(30, "g", ()), nemesis=[strike])

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "needs-replica-evidence")


def test_what_the_promise_leaves_open_is_open():
    (anomaly,) = disagree(final(20, "f", ALL), final(30, "g", SOME), contract="documented")

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "needs-replica-evidence")
