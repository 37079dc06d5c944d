"""High watermarks move forward within a leadership, and may move back across leaderships."""

from tidemark.checkers import History, check

P = "t-0"
WRITTEN = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (7, 8)),
    (21, 2, "append", P, 0, 1, (7, 8)),
    (30, 1, "hw", P, 2, 1, True),
]


def regressions(*trace):
    return check(History.of(trace=trace)).named("hw-regression")


def test_a_leader_whose_high_watermark_moves_back_breaks_every_promise():
    (anomaly,) = regressions(*WRITTEN, (40, 1, "hw", P, 1, 1, True))

    assert (anomaly.verdict, anomaly.time) == ("violation", 40)
    assert anomaly.evidence == {"leader": 1, "leader_epoch": 1, "from": 2, "to": 1, "trace_index": 4}


def test_a_follower_whose_high_watermark_moves_back_does_not():
    assert regressions(*WRITTEN, (31, 2, "hw", P, 2, 1, False), (40, 2, "hw", P, 1, 1, False)) == []


def test_a_new_leader_that_knows_less_is_permitted_and_told_once_with_a_count():
    (anomaly,) = regressions(
        *WRITTEN,
        (40, 2, "lead", P, 2, 2, 1, (2,)),
        (50, 2, "hw", P, 2, 2, True),
        (60, 3, "lead", P, 3, 2, 0, (3,)),
    )

    assert (anomaly.verdict, anomaly.clause, anomaly.time) == ("permitted", "across-leaderships", 40)
    assert anomaly.evidence == {
        "time": 40,
        "from": 2,
        "to": 1,
        "old_leader": 1,
        "new_leader": 2,
        "leader_epoch": 2,
        "trace_index": 4,
        "count": 2,
    }


def test_a_new_leader_that_knows_as_much_is_not_told():
    assert regressions(*WRITTEN, (40, 2, "lead", P, 2, 2, 2, (2,))) == []
