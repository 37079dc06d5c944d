"""An elected leader must have everything below the true high watermark."""

from tidemark.checkers import History, check

P = "t-0"
WRITTEN = [
    (10, 1, "lead", P, 1, 0, 0, (1, 2)),
    (20, 1, "append", P, 0, 1, (5, 6, 7)),
    (25, 2, "append", P, 0, 1, (5,)),
    (30, 1, "hw", P, 3, 1, True),
]


def incomplete(*trace, **meta):
    return check(History.of(trace=trace, **meta)).named("leader-completeness")


def test_a_leader_without_two_committed_records_is_incomplete():
    (anomaly,) = incomplete(*WRITTEN, (40, 2, "lead", P, 2, 1, 0, (2,)))

    assert anomaly.verdict == "violation"
    assert anomaly.breaks == ("documented", "kip-966", "durable")
    assert anomaly.evidence == {
        "leader": 2,
        "leader_epoch": 2,
        "first_offset": 1,
        "last_offset": 2,
        "count": 2,
        "trace_index": 4,
    }


def test_a_leader_with_all_of_them_is_complete():
    assert incomplete(*WRITTEN, (35, 2, "append", P, 1, 1, (6, 7)), (40, 2, "lead", P, 2, 3, 0, (2,))) == []


def test_the_true_high_watermark_is_the_highest_that_any_leader_reached():
    """Broker 3 leads with a smaller high watermark in between; what broker 1 had committed still counts."""
    anomalies = incomplete(
        *WRITTEN,
        (31, 3, "append", P, 0, 1, (5, 6, 7)),
        (40, 3, "lead", P, 2, 3, 1, (3,)),
        (50, 2, "lead", P, 3, 1, 1, (2,)),
    )

    assert [(one.time, one.evidence["first_offset"], one.evidence["last_offset"]) for one in anomalies] == [(50, 1, 2)]


def test_it_is_permitted_if_every_missing_record_was():
    (anomaly,) = incomplete(
        *WRITTEN,
        (35, 0, "elect", P, 2, 2, (2,), (), "unclean", False, 1),
        (40, 2, "lead", P, 2, 1, 0, (2,)),
        unclean_election=True,
    )

    assert (anomaly.verdict, anomaly.clause, anomaly.breaks) == ("permitted", "unclean-election", ())


def test_a_leader_that_cuts_its_own_log_was_complete_when_elected():
    assert incomplete(*WRITTEN, (40, 1, "truncate", P, 0, 3, "by mistake", 1)) == []
