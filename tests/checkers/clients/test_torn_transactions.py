"""A transaction is there as a whole, or not at all: also one of which nobody knows how it ended."""

import pytest

from tidemark.checkers import History, Op, check, polled

SENT = (("send", "t-0", (0, 1)), ("send", "t-1", (0, 2)), ("send", "t-0", (1, 3)))
MEANT = tuple((what, key, value) for what, key, (_, value) in SENT)


def history(outcome, value, *reads):
    ops = [Op(1, "p1", "invoke", "txn", MEANT), Op(2, "p1", outcome, "txn", value)]
    ops += [polled(10, "c1", key, *records)._replace(final=True) for key, records in reads]
    return History.of(ops=ops, transactions=True, read_back=True)


@pytest.mark.parametrize("outcome", ["ok", "info"])
def test_a_part_that_is_missing_is_lost(outcome):
    verdict = check(history(outcome, SENT, ("t-0", [(0, 1), (1, 3)]), ("t-1", [])))
    assert [(one.name, one.evidence["value"]) for one in verdict.anomalies if one.verdict == "violation"] == [
        ("lost-write", 2)
    ]


def test_a_part_of_one_partition_that_is_missing_is_lost():
    verdict = check(history("info", SENT, ("t-0", [(0, 1)]), ("t-1", [(0, 2)])))
    assert {one.evidence["value"] for one in verdict.named("lost-write")} == {3}


@pytest.mark.parametrize("reads", [(("t-0", [(0, 1), (1, 3)]), ("t-1", [(0, 2)])), (("t-0", []), ("t-1", []))])
def test_all_of_it_or_nothing_may_be_there(reads):
    assert not [one for one in check(history("info", SENT, *reads)).anomalies if one.verdict == "violation"]


def test_of_one_that_was_aborted_nothing_may_be_read():
    verdict = check(history("fail", MEANT, ("t-0", [(0, 1)]), ("t-1", [])))
    assert [one.evidence["value"] for one in verdict.named("G1a")] == [1]
