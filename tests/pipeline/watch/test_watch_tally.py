"""What is told of a campaign that runs: numbers add up, the newest come first, and the pace is that of now."""

from dataclasses import replace

import pytest

from tidemark.harness.report.comparison import ANY
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.watch.watch_tally import Batch, NewViolation, Tally


def chunk(number: int, runs: int = 10, variant: str = "a") -> ChunkSummary:
    return ChunkSummary(variant, number, runs, violating=0, permitting=0, unknown=0, errors=0)


def batch(*ends: float, runs: int = 10, first: int = 0) -> Batch:
    return Batch([(chunk(first + n, runs), at) for n, at in enumerate(ends)], {}, {}, ())


def violation(at: int, plan: int, variant: str = "a") -> NewViolation:
    return NewViolation(at, variant, plan, ("divergence",), 1)


def test_rates_are_over_all_judged_runs_so_far() -> None:
    tally = Tally()
    totals = {"runs": 10, "judged": 8, "unknown": 2, "errors": 1}
    hits = {("a", ANY, "violation"): 1, ("a", "stuck", "violation"): 1, ("a", "stuck", "near-miss"): 5}
    tally.add(Batch([(chunk(0), 5.0)], {"a": totals}, hits, ()))
    tally.add(Batch([(chunk(1), 6.0)], {"a": {**totals, "errors": 0}}, {("a", ANY, "permitted"): 3}, ()))

    seen = tally.variant("a", 40)

    assert (seen.runs, seen.plans, seen.errors, tally.runs) == (20, 40, 1, 20)
    assert (seen.violating.hits, seen.violating.runs, seen.violating.unknown) == (1, 16, 4)
    # Wilson's interval of 1 in 16, as his formula gives it by hand.
    assert seen.violating.low == pytest.approx(0.0111, abs=1e-4)
    assert seen.violating.high == pytest.approx(0.2833, abs=1e-4)
    assert seen.permitting.hits == 3
    assert [(name, violation.hits, permitted.hits) for name, violation, permitted in seen.anomalies] == [
        ("stuck", 1, 0)
    ]
    nothing = tally.variant("b", 40)
    assert (nothing.runs, nothing.violating.low, nothing.violating.high, nothing.anomalies) == (0, 0.0, 1.0, ())


def test_the_newest_violations_come_first_and_old_ones_go() -> None:
    tally = Tally()
    tally.add(replace(batch(1.0), newest=[violation(1, plan) for plan in range(6)]))
    tally.add(replace(batch(2.0), newest=[violation(2, 3, "b"), violation(2, 7), violation(2, 9)]))

    found = [(run.at, run.variant, run.plan) for run in tally.newest]
    assert found == [
        (2, "b", 3),
        (2, "a", 9),
        (2, "a", 7),
        (1, "a", 5),
        (1, "a", 4),
        (1, "a", 3),
        (1, "a", 2),
        (1, "a", 1),
    ]


def test_at_first_the_pace_is_that_since_somebody_began() -> None:
    tally = Tally()
    assert tally.runs_a_second(100.0, 90.0) is None
    tally.add(batch(95.0, 98.0))
    assert tally.runs_a_second(100.0, 90.0) == 2.0
    assert tally.runs_a_second(100.0, None) == 2.0  # one chunk in the 5 s since the first one ended


def test_the_pace_is_that_of_the_last_minute() -> None:
    tally = Tally()
    tally.add(batch(*(float(at) for at in range(10, 1000, 10))))
    tally.add(batch(*(float(at) for at in range(1000, 1062)), first=100))

    # Of the minute from 1001.5 to 1061.5 the 60 chunks that ended at 1002 … 1061.
    assert tally.runs_a_second(1061.5, 0.0) == pytest.approx(10.0)


def test_chunks_that_take_minutes_have_a_pace_too() -> None:
    tally = Tally()
    tally.add(batch(*(200.0 * n for n in range(1, 11)), runs=1))

    # The last six chunks since the end of the fourth, 800; it is 2100.
    assert tally.runs_a_second(2100.0, 0.0) == pytest.approx(6 / 1300)


def test_what_was_done_before_a_pause_is_no_pace() -> None:
    tally = Tally()
    tally.add(batch(*(float(at) for at in range(100))))
    tally.add(batch(5010.0, first=100))

    assert tally.runs_a_second(5020.0, 5000.0) == pytest.approx(10 / 20)
