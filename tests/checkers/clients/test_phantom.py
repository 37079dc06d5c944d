"""What nobody sent cannot be read."""

from tidemark.checkers import History, Op, check, polled, sent

K = "t-0"


def seen(*ops):
    return check(History.of(ops=ops)).named("phantom")


def test_a_value_that_nobody_sent_is_a_phantom():
    (anomaly,) = seen(sent(1, "p1", K, 8, 0), polled(2, "c1", K, (0, 8), (1, 7)))

    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {"value": 7, "offset": 1, "read_time": 2, "read_process": "c1"}


def test_a_value_sent_to_another_key_is_a_phantom():
    assert len(seen(sent(1, "p1", "t-1", 7, 0), polled(2, "c1", K, (0, 7)))) == 1


def test_a_send_that_never_completed_is_a_send():
    assert seen(Op(1, "p1", "invoke", "send", (("send", K, 7),)), polled(2, "c1", K, (0, 7))) == []


def test_a_poll_counts_however_it_ended():
    assert len(seen(Op(2, "c1", "info", "poll", (("poll", {K: [(0, 7)]}),)))) == 1
