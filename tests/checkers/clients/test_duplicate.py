"""A value is at one offset."""

from tidemark.checkers import History, check, polled, sent

K = "t-0"


def duplicated(*ops):
    return check(History.of(ops=ops)).named("duplicate")


def test_a_value_acknowledged_at_one_offset_and_read_at_another_is_a_duplicate():
    (anomaly,) = duplicated(sent(1, "p1", K, 7, 0), polled(2, "c1", K, (1, 7)))

    assert anomaly.verdict == "violation"
    assert anomaly.evidence == {
        "value": 7,
        "offsets": [
            {"offset": 0, "f": "send", "process": "p1", "time": 1},
            {"offset": 1, "f": "poll", "process": "c1", "time": 2},
        ],
    }


def test_a_send_that_was_not_told_its_offset_observed_none():
    assert duplicated(sent(1, "p1", K, 7), polled(2, "c1", K, (1, 7))) == []


def test_the_same_value_in_two_keys_is_none():
    assert duplicated(sent(1, "p1", K, 7, 0), sent(1, "p1", "t-1", 7, 3)) == []


def test_without_idempotent_producers_a_duplicate_is_permitted():
    ops = (sent(1, "p1", K, 7, 0), polled(2, "c1", K, (0, 7), (1, 7)))
    verdict = check(History.of(ops=ops, idempotent=False))

    (anomaly,) = verdict.named("duplicate")
    assert (anomaly.verdict, anomaly.clause) == ("permitted", "producers-not-idempotent")
    assert verdict.valid == "valid"
