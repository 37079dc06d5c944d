from tidemark.checkers.history.history import Op
from tidemark.harness.canary.meter import Interval, Meter


def send(time, kind, *pairs):
    return Op(time, "p1", kind, "send", tuple(("send", "t-0", pair) for pair in pairs), None, "all")


def poll(time, *pairs, final=False):
    return Op(time, "c1", "ok", "poll", (("poll", {"t-0": list(pairs)}),), None, None, final)


def test_counts_lag_and_the_longest_silence_of_each_interval():
    meter = Meter()
    for op in (
        send(1_000_000, "invoke", 7, 8),
        send(2_000_000, "ok", (0, 7), (1, 8)),
        poll(2_500_000, (0, 7)),
        send(3_000_000, "invoke", 9),
        send(9_000_000, "info", 9),
    ):
        meter.note(op)
    # From 2 s to 10 s nobody was told that anything is written; offset 1 was not read.
    assert meter.take(10_000_000) == Interval(3, 2, 0, 1, 1, 1, 8_000_000)
    meter.note(poll(11_000_000, (1, 8)))
    meter.note(send(12_000_000, "invoke", 10))
    meter.note(send(12_500_000, "fail", 10))
    # The silence lasts since 2 s.
    assert meter.take(13_000_000) == Interval(1, 0, 1, 0, 1, 0, 11_000_000)


def test_what_is_read_twice_counts_once_and_final_reads_do_not():
    meter = Meter()
    meter.note(poll(1, (0, 7), (1, 8)))
    meter.note(poll(2, (0, 7), (1, 8), (2, 9)))
    meter.note(poll(3, (3, 10), final=True))
    assert meter.take(4).read == 3


def test_a_line():
    assert Interval(3012, 3010, 0, 2, 3010, 4, 1_500_000).told() == (
        "sent 3,012, acknowledged 3,010, failed 0, in doubt 2, read 3,010, lag 4, longest without an acknowledgement 1.5 s"
    )
