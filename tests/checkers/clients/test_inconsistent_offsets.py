"""An offset holds one value."""

from tidemark.checkers import History, check, polled, sent

K = "t-0"


def inconsistent(*ops, trace=(), **meta):
    return check(History.of(ops=ops, trace=trace, **meta)).named("inconsistent-offsets")


def test_two_values_read_at_one_offset_conflict():
    (anomaly,) = inconsistent(
        sent(1, "p1", K, 7, 0), sent(1, "p2", K, 8, 0), polled(2, "c1", K, (0, 7)), polled(3, "c2", K, (0, 8))
    )

    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {
        "offset": 0,
        "values": [
            {"value": 7, "f": "send", "process": "p1", "time": 1},
            {"value": 8, "f": "send", "process": "p2", "time": 1},
        ],
    }


def test_the_same_value_read_twice_does_not():
    assert inconsistent(sent(1, "p1", K, 7, 0), polled(2, "c1", K, (0, 7)), polled(3, "c2", K, (0, 7))) == []


def test_the_same_offset_of_two_keys_does_not():
    assert inconsistent(sent(1, "p1", K, 7, 0), sent(1, "p2", "t-1", 8, 0)) == []


def test_a_value_that_was_permitted_to_be_lost_may_be_replaced():
    """Acknowledged under acks=1, never committed, and overwritten by the next leader."""
    (anomaly,) = inconsistent(
        sent(3, "p1", K, 7, 0, acks="1"),
        sent(9, "p1", K, 8, 0, acks="1"),
        trace=[
            (1, 1, "lead", K, 1, 0, 0, (1,)),
            (2, 1, "append", K, 0, 1, (7,)),
            (6, 2, "lead", K, 2, 0, 0, (2,)),
            (7, 2, "append", K, 0, 2, (8,)),
        ],
    )

    assert (anomaly.verdict, anomaly.clause) == ("permitted", "acks-1-not-replicated")


def test_a_value_that_was_not_permitted_to_be_lost_may_not():
    (anomaly,) = inconsistent(
        sent(4, "p1", K, 7, 0),
        sent(9, "p1", K, 8, 0),
        trace=[
            (1, 1, "lead", K, 1, 0, 0, (1,)),
            (2, 1, "append", K, 0, 1, (7,)),
            (3, 1, "hw", K, 1, 1, True),
            (6, 2, "lead", K, 2, 0, 0, (2,)),
            (7, 2, "append", K, 0, 2, (8,)),
            (8, 2, "hw", K, 1, 2, True),
        ],
    )

    assert (anomaly.verdict, anomaly.breaks) == ("violation", ("documented", "kip-966", "durable"))
