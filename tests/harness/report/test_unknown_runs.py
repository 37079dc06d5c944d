"""What runs that nobody could judge could change: bounds by hand."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from tidemark.harness.report.comparison import Rate
from tidemark.harness.report.words import bounds


def test_unknown_runs_bound_the_share_from_both_sides() -> None:
    # 2 of 84 judged runs hit, 16 unknown: 2 of 100 if none of them was hit, 18 of 100 if all were.
    rate = Rate(2, 84, 0.0065, 0.0827, unknown=16)

    assert (rate.least, rate.most) == (pytest.approx(0.02), pytest.approx(0.18))
    assert bounds(rate) == "2.0–18.0 %"


def test_without_unknown_runs_the_bounds_are_the_share() -> None:
    rate = Rate(37, 500, 0.054, 0.1)

    assert (rate.least, rate.most, rate.share) == pytest.approx((0.074, 0.074, 0.074))


def test_where_nothing_was_judged_everything_is_possible() -> None:
    assert (Rate(0, 0, 0.0, 1.0, unknown=5).least, Rate(0, 0, 0.0, 1.0, unknown=5).most) == (0.0, 1.0)
    assert (Rate(0, 0, 0.0, 1.0).least, Rate(0, 0, 0.0, 1.0).most) == (0.0, 1.0)


def test_the_bounds_stand_in_the_json_values() -> None:
    assert asdict(Rate(1, 3, 0.06, 0.79, unknown=1)) == {
        "hits": 1,
        "runs": 3,
        "low": 0.06,
        "high": 0.79,
        "unknown": 1,
        "least": 0.25,
        "most": 0.5,
    }
