"""The story of a record that was sent in a transaction, aborted, and read all the same."""

import pytest

from tidemark.checkers import History, Op, check, polled
from tidemark.harness.report.story import tell

SENT = (("send", "t-0", 7), ("send", "t-1", 8))
TRACE = [
    (1, 1, "lead", "t-0", 0, 0, 0, ()),
    (4, 1, "append", "t-0", 0, 0, (7,)),
    (5, 1, "hw", "t-0", 1, 0, True),
]


def story(outcome="fail", error="INVALID_TXN_STATE"):
    ops = [
        Op(3, "p1", "invoke", "txn", SENT),
        Op(8, "p1", outcome, "txn", SENT, error),
        polled(9, "c1", "t-0", (0, 7)),
    ]
    history = History.of(transactions=True, replicas={"t-0": [1]}, ops=ops, trace=TRACE)
    (anomaly,) = check(history).named("G1a")
    return anomaly, [moment.sentence for moment in tell(history, anomaly).moments]


def test_it_says_that_the_transaction_had_failed():
    anomaly, _ = story()
    assert anomaly.message.endswith("but its transaction had failed (INVALID_TXN_STATE).")


def test_it_goes_from_the_beginning_of_the_transaction_to_the_read():
    _, sentences = story()
    assert sentences[0] == "Client p1 begins a transaction in which it sends record 7 to t-0."
    assert sentences[-2:] == [
        "The transaction of p1 with record 7 is over, and not committed (INVALID_TXN_STATE).",
        "Client c1 reads record 7.",
    ]


def test_below_the_high_watermark_is_not_called_committed():
    _, sentences = story()
    assert not any("it is committed" in sentence for sentence in sentences)


@pytest.mark.parametrize("error", ["aborted", "aborted: _MSG_TIMED_OUT"])
def test_why_it_was_aborted_is_told(error):
    anomaly, _ = story(error=error)
    assert f"({error})" in anomaly.message
