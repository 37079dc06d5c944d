"""A transaction that never ends is told, and what a lost decision may have done is no violation."""

import pytest

from tidemark.checkers import History, Op, check, polled

OPEN = {"t-0": [31, 40]}
READ_ABORTED = [
    Op(1, "p1", "invoke", "txn", (("send", "t-0", 7),)),
    Op(2, "p1", "fail", "txn", (("send", "t-0", 7),), "aborted"),
    polled(30, "c1", "t-0", (0, 7)),
]
TRACE = [(20, 1, "stop", "", "power"), (25, 1, "start", "", 2)]


def verdicts(**given):
    history = History.of(transactions=True, end_us=50, **given)
    return {(one.name, one.verdict) for one in check(history).anomalies}


def test_each_partition_with_an_open_transaction_is_one_violation():
    verdict = check(History.of(transactions=True, open_transactions=OPEN | {"t-1": [0, 2]}))
    assert [(one.partition, one.evidence) for one in verdict.named("hanging-transaction")] == [
        ("t-0", {"last_stable_offset": 31, "high_watermark": 40}),
        ("t-1", {"last_stable_offset": 0, "high_watermark": 2}),
    ]
    assert verdict.valid == "invalid"


def test_what_was_aborted_and_is_read_all_the_same_is_a_violation():
    assert ("G1a", "violation") in verdicts(ops=READ_ABORTED)


@pytest.mark.parametrize("why", [{"unclean_election": True}, {"trace": TRACE}], ids=["unclean", "power"])
def test_once_decisions_may_be_lost_nothing_follows_from_it(why):
    found = verdicts(ops=READ_ABORTED, open_transactions=OPEN, **why)
    assert {("G1a", "permitted"), ("hanging-transaction", "permitted")} <= found


def test_what_was_seen_before_the_log_was_lost_stays_a_violation():
    early = [*READ_ABORTED[:2], polled(15, "c1", "t-0", (0, 7))]
    assert ("G1a", "violation") in verdicts(ops=early, trace=TRACE)


def test_without_transactions_nothing_is_excused():
    history = History.of(ops=READ_ABORTED, unclean_election=True)
    assert [one.verdict for one in check(history).named("G1a")] == ["violation"]
