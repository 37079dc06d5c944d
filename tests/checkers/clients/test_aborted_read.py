"""What certainly did not happen cannot be read."""

from tidemark.checkers import History, Op, check, polled

K = "t-0"


def send(kind):
    return Op(1, "p1", kind, "send", (("send", K, 7),), "NOT_ENOUGH_REPLICAS", "all")


def aborted(*ops):
    return check(History.of(ops=ops)).named("G1a")


def test_a_value_whose_send_failed_must_not_be_read():
    (anomaly,) = aborted(send("fail"), polled(2, "c1", K, (0, 7)))

    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {
        "value": 7,
        "offset": 0,
        "read_time": 2,
        "read_process": "c1",
        "send_time": 1,
        "send_process": "p1",
        "error": "NOT_ENOUGH_REPLICAS",
    }


def test_a_value_whose_send_has_an_unknown_outcome_may_be_read():
    assert aborted(send("info"), polled(2, "c1", K, (0, 7))) == []


def test_a_poll_that_did_not_succeed_read_nothing_for_sure():
    assert aborted(send("fail"), Op(2, "c1", "info", "poll", (("poll", {K: [(0, 7)]}),))) == []


def test_a_failed_value_that_nobody_read_is_in_order():
    assert aborted(send("fail"), polled(2, "c1", K)) == []
