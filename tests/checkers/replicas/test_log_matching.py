"""Below both high watermarks a leader and its follower must agree."""

from tidemark.checkers import History, check

P = "t-0"
DIVERGED = [
    (10, 2, "append", P, 0, 1, (5, 8)),
    (11, 1, "append", P, 0, 1, (5,)),
    (12, 2, "hw", P, 2, 1, False),
    (20, 1, "lead", P, 2, 1, 0, (1, 2)),
    (30, 1, "append", P, 1, 2, (9,)),
    (40, 2, "fetched", P, 2, 1),
]


def mismatched(*trace):
    return check(History.of(trace=trace)).named("log-matching")


def test_a_difference_below_both_high_watermarks_is_found_when_the_second_passes_it():
    (anomaly,) = mismatched(*DIVERGED, (50, 1, "hw", P, 1, 2, True), (60, 1, "hw", P, 2, 2, True))

    assert anomaly.verdict == "violation"
    assert anomaly.time == 60
    assert anomaly.evidence == {
        "leader": 1,
        "leader_epoch": 2,
        "leader_hw": 2,
        "follower": 2,
        "follower_hw": 2,
        "offset": 1,
        "leader_record": (2, 9),
        "follower_record": (1, 8),
        "trace_index": 7,
    }


def test_a_difference_above_one_high_watermark_is_only_divergence():
    assert mismatched(*DIVERGED, (50, 1, "hw", P, 1, 2, True)) == []


def test_it_is_found_at_the_first_fetch_if_both_high_watermarks_are_past_it_by_then():
    before = [*DIVERGED[:-1], (35, 1, "hw", P, 2, 2, True), DIVERGED[-1]]

    assert [one.time for one in mismatched(*before)] == [40]


def test_a_pair_that_ended_is_left_alone():
    assert mismatched(*DIVERGED, (45, 2, "stop", "", "crash"), (60, 1, "hw", P, 2, 2, True)) == []


def test_it_is_reported_once_per_pair_and_epoch():
    anomalies = mismatched(*DIVERGED, (60, 1, "hw", P, 2, 2, True), (70, 2, "hw", P, 2, 2, False))

    assert [one.time for one in anomalies] == [60]
