"""How many of the acknowledged records are gone, in a sentence and in numbers; and that anomalies are counted as what they are."""

import pytest

from tidemark.checkers import History, check, deleted, polled, sent
from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.verdict.alike import alike
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly

K = "t-0"
SIXTY = [sent(value, "p1", K, value, value) for value in range(60)]


def numbers(*ops, **meta):
    stats = check(History.of(ops=ops, **meta)).stats
    names = (
        "acked",
        "acked_lost_violation",
        "acked_lost_permitted",
        "acked_lost_by_clause",
        "acked_deleted",
        "acked_unknown",
    )
    return [stats[name] for name in names]


def final(time, *values):
    return polled(time, "f", K, *((value, value) for value in values))._replace(final=True)


def test_all_lost():
    assert numbers(*SIXTY, final(99)) == [60, 60, 0, {}, 0, 0]
    assert numbers(*SIXTY, polled(98, "c1", K, *((n, n) for n in range(60))), final(99)) == [60, 60, 0, {}, 0, 0]


def test_none_lost():
    assert numbers(*SIXTY, final(99, *range(60))) == [60, 0, 0, {}, 0, 0]


def test_nobody_can_tell():
    read = polled(98, "c1", K, *((n, n) for n in range(60)))

    assert numbers(*SIXTY, read) == [60, 0, 0, {}, 0, 60]
    assert numbers(*SIXTY, final(99, *range(60)), sent(100, "p1", K, 60, 60)) == [61, 0, 0, {}, 0, 1]


def test_deleted_on_purpose():
    assert numbers(*SIXTY, deleted(70, "d1", K, 50), final(99, *range(50, 60))) == [60, 0, 0, {}, 50, 0]


def test_undecided():
    assert numbers(*SIXTY, final(99), contract="documented") == [60, 0, 60, {"needs-replica-evidence": 60}, 0, 0]


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((0, 0, {}, 0, 0), "No record was acknowledged."),
        ((244, 0, {}, 0, 0), "None of 244 acknowledged records is gone."),
        ((1, 0, {}, 0, 0), "None of 1 acknowledged record is gone."),
        ((60, 60, {}, 0, 0), "60 of 60 acknowledged records are gone (against the promise)."),
        (
            (244, 0, {"acks-1-not-replicated": 13}, 0, 0),
            "13 of 244 acknowledged records are gone (permitted: acknowledged under acks=1 or 0, before replication).",
        ),
        (
            (244, 1, {"lost-disk": 2}, 3, 4),
            (
                "3 of 244 acknowledged records are gone (1 against the promise; 2 permitted: after a replica had lost its disk). "
                "3 were deleted on purpose. Of 4 nobody can tell."
            ),
        ),
        (
            (9, 0, {"needs-replica-evidence": 1}, 0, 0),
            "1 of 9 acknowledged records is gone (nobody can tell whether that was permitted).",
        ),
        ((9, 0, {}, 0, 9), "Of 9 acknowledged records nobody can tell whether they are still there."),
        (
            (9, 0, {}, 1, 2),
            "None of 9 acknowledged records is known to be gone. 1 was deleted on purpose. Of 2 nobody can tell.",
        ),
    ],
)
def test_the_sentence(numbers, sentence):
    acked, violation, clauses, gone, unknown = numbers
    stats = {
        "acked": acked,
        "acked_lost_violation": violation,
        "acked_lost_permitted": sum(clauses.values()),
        "acked_lost_by_clause": clauses,
        "acked_deleted": gone,
        "acked_unknown": unknown,
    }
    assert of_acknowledged(stats) == sentence


def test_of_statistics_stored_before_it_says_what_they_have():
    old = {"acked": 9, "acked_lost_violation": 0, "acked_lost_permitted": 2}

    assert of_acknowledged(old) == "2 of 9 acknowledged records are gone (permitted)."
    assert of_acknowledged({}) == ""


def one(time, verdict=VIOLATION, clause=None):
    return Anomaly("lost-write", verdict, time, K, f"Record {time} is gone.", clause)


def test_what_sums_up_comes_behind_what_it_sums_up_for_each_judgement():
    told = shortened([*(one(time) for time in range(90, 30, -1)), *(one(time, PERMITTED, "x") for time in range(30))])

    assert [each.time for each in told[:20]] == list(range(31, 51))
    assert [(each.times, each.verdict, each.clause, each.time) for each in told[20:]] == [
        (40, VIOLATION, None, 50),
        (30, PERMITTED, "x", 50),
    ]


def test_numbers_count_what_happened():
    verdict = check(History.of(ops=[*SIXTY, final(99)]))

    assert verdict.anomalies[-1].message == "There are 40 more of lost-write in t-0."
    assert [(each.first, each.count) for each in alike(verdict.anomalies)] == [(verdict.anomalies[0], 60)]


def test_a_last_one_is_summed_up_as_well():
    (*_, last) = shortened([one(time) for time in range(21)])

    assert (last.times, last.message) == (1, "There is 1 more of lost-write in t-0.")
    assert [each.count for each in alike([*(one(time) for time in range(20)), last])] == [21]
