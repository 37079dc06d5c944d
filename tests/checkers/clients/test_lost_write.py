"""Writes that must have committed and were never read, although later ones were."""

from tidemark.checkers import History, Op, check, polled, sent

K = "t-0"


def lost(*ops, trace=(), **meta):
    return check(History.of(ops=ops, trace=trace, **meta)).named("lost-write")


def test_an_acknowledged_write_below_a_record_that_was_read_is_lost():
    (anomaly,) = lost(sent(1, "p1", K, 7, 0), sent(2, "p1", K, 8, 1), polled(3, "c1", K, (1, 8)))

    assert (anomaly.verdict, anomaly.breaks, anomaly.time) == ("violation", ("durable",), 3)
    assert anomaly.evidence == {
        "value": 7,
        "offset": 0,
        "ack_time": 1,
        "ack_process": "p1",
        "read_beyond": {"time": 3, "process": "c1", "offset": 1, "value": 8},
    }
    assert anomaly.message == (
        "Record 7 of t-0 at offset 0 (acknowledged to p1 at 0.000001 s) was never read, although c1 read record 8 at "
        "offset 1 at 0.000003 s."
    )


def test_the_read_that_proves_it_comes_after_the_acknowledgement_if_there_is_one():
    (anomaly,) = lost(polled(1, "c1", K, (5, 9)), sent(2, "p1", K, 7, 0), polled(3, "c2", K, (1, 8)))

    assert anomaly.evidence["read_beyond"]["process"] == "c2"


def test_nothing_is_lost_before_it_is_acknowledged():
    """Where its offset was read before it was there, and never again: what happened between may be why."""
    (anomaly,) = lost(polled(1, "c1", K, (5, 9)), sent(2, "p1", K, 7, 0))

    assert anomaly.time == 2
    assert anomaly.evidence["read_beyond"]["time"] == 1


def test_a_write_beyond_everything_that_was_read_is_only_unseen():
    assert lost(sent(1, "p1", K, 7, 0), sent(2, "p1", K, 8, 1), polled(3, "c1", K, (0, 7))) == []


def test_any_poll_counts_as_reading_it_however_it_ended():
    torn = Op(3, "c2", "info", "poll", (("poll", {K: [(0, 7)]}),))

    assert lost(sent(1, "p1", K, 7, 0), sent(2, "p1", K, 8, 1), torn, polled(4, "c1", K, (1, 8))) == []


def test_only_an_ok_poll_moves_the_bound():
    torn = Op(3, "c2", "info", "poll", (("poll", {K: [(1, 8)]}),))

    assert lost(sent(1, "p1", K, 7, 0), sent(2, "p1", K, 8, 1), torn) == []


def test_a_write_without_acknowledgement_may_never_have_happened():
    unknown = Op(1, "p1", "info", "send", (("send", K, (0, 7)),), "REQUEST_TIMED_OUT", "all")

    assert lost(unknown, sent(2, "p1", K, 8, 1), polled(3, "c1", K, (1, 8))) == []


def test_a_write_without_acknowledgement_whose_sibling_was_read_has_happened():
    unknown = Op(1, "p1", "info", "send", (("send", K, (0, 7)), ("send", K, (1, 8))), "REQUEST_TIMED_OUT", "all")

    assert [one.evidence["value"] for one in lost(unknown, polled(3, "c1", K, (1, 8)))] == [7]


def test_other_keys_do_not_move_the_bound():
    assert lost(sent(1, "p1", K, 7, 0), polled(3, "c1", "t-1", (1, 8))) == []


UNCLEAN = [
    (1, 1, "lead", K, 1, 0, 0, (1,)),
    (2, 1, "append", K, 0, 1, (7,)),
    (3, 1, "hw", K, 1, 1, True),
    (5, 0, "elect", K, 2, 2, (2,), (), "unclean", False, 1),
    (6, 2, "lead", K, 2, 0, 0, (2,)),
    (7, 2, "append", K, 0, 2, (8,)),
    (8, 2, "hw", K, 1, 2, True),
]


def test_a_write_that_was_permitted_to_be_lost_is_permitted_here_too():
    (anomaly,) = lost(
        sent(4, "p1", K, 7, 0),
        sent(9, "p1", K, 8, 0),
        polled(10, "c1", K, (0, 8)),
        trace=UNCLEAN,
        unclean_election=True,
    )

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "unclean-election")


def test_a_write_that_the_replicas_have_and_nobody_can_read_is_a_violation():
    trace = [
        (1, 1, "lead", K, 1, 0, 0, (1,)),
        (2, 1, "append", K, 0, 1, (7, 8)),
        (3, 1, "hw", K, 2, 1, True),
    ]

    (anomaly,) = lost(sent(4, "p1", K, 7, 0), sent(5, "p1", K, 8, 1), polled(6, "c1", K, (1, 8)), trace=trace)
    assert (anomaly.verdict, anomaly.breaks) == ("violation", ("documented", "kip-966", "durable"))


def test_more_than_twenty_are_told_as_a_number():
    sends = [sent(value, "p1", K, value, value) for value in range(30)]

    anomalies = lost(*sends, polled(99, "c1", K, (29, 29)))
    assert len(anomalies) == 21
    assert anomalies[20].evidence == {"count": 9, "violations": 9}
