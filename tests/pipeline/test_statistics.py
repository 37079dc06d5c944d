"""Expected values by hand, or from the works named."""

import pytest

from pipeline.statistics import mcnemar, share_hit, wilson


def test_wilson_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_of_no_hit_in_ten_is_z_squared_over_n_plus_z_squared() -> None:
    # z = 1.959964: 3.841459 / 13.841459
    low, high = wilson(0, 10)

    assert low == pytest.approx(0.0, abs=1e-12)
    assert high == pytest.approx(0.277533, abs=1e-6)


def test_wilson_of_81_in_263_is_as_published() -> None:
    """Newcombe 1998, Statistics in Medicine 17, table I, method 3."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_mcnemar_of_five_to_nothing_is_two_in_32() -> None:
    assert mcnemar(5, 0) == pytest.approx(0.0625)


def test_mcnemar_does_not_care_which_side() -> None:
    # 2 * (C(10,0) + C(10,1) + C(10,2)) / 2^10 = 2 * 56 / 1024
    assert mcnemar(2, 8) == pytest.approx(0.109375)
    assert mcnemar(8, 2) == pytest.approx(0.109375)


@pytest.mark.parametrize("discordant", [0, 1, 4])
def test_mcnemar_of_a_draw_is_one(discordant: int) -> None:
    assert mcnemar(discordant, discordant) == pytest.approx(1.0)


def test_without_early_ends_the_share_hit_is_a_plain_share() -> None:
    assert share_hit([30, 10, 10], [50]) == ((10, pytest.approx(0.5)), (30, pytest.approx(0.75)))


def test_a_run_that_ended_early_no_longer_counts_among_the_watched() -> None:
    # Four watched, one hit: 3/4 untouched. One leaves. Two watched, one hit: 3/4 * 1/2 untouched.
    assert share_hit([10, 30], [20, 40]) == ((10, pytest.approx(0.25)), (30, pytest.approx(0.625)))


def test_a_hit_at_the_moment_of_an_end_comes_first() -> None:
    assert share_hit([10], [10]) == ((10, pytest.approx(0.5)),)


def test_no_hit_no_step() -> None:
    assert share_hit([], [10, 20]) == ()
