"""Expected values by hand, or from the works named."""

import pytest
from scipy.stats import binomtest

from tidemark.pipeline.compare.statistics import holm, mcnemar, paired_difference, share_hit, wilson


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


def test_the_paired_difference_of_6_and_16_in_161_is_as_published() -> None:
    """Fagerland, Lydersen and Laake 2017, Statistical Analysis of Contingency Tables, chapter 8, on Cavo et al. 2012: Tango's
    asymptotic score interval of complete response before and after consolidation therapy.
    """
    assert paired_difference(6, 16, 161) == pytest.approx((-0.1240, -0.0054), abs=5e-5)
    assert paired_difference(16, 6, 161) == pytest.approx((0.0054, 0.1240), abs=5e-5)


def test_without_a_discordant_pair_the_difference_is_wilsons_limit_to_both_sides() -> None:
    # z = 1.959964: 3.841459 / 13.841459
    assert paired_difference(0, 0, 10) == pytest.approx((-0.277533, 0.277533), abs=1e-6)


def test_where_all_discordant_pairs_are_on_one_side_the_far_limit_is_wilsons() -> None:
    # With c = 0 Tango's score is (b - n d) / sqrt(n d (1 - d)), Wilson's. 81 of 263: as published, see above.
    assert paired_difference(81, 0, 263)[1] == pytest.approx(0.3662, abs=5e-5)
    assert paired_difference(0, 81, 263)[0] == pytest.approx(-0.3662, abs=5e-5)


def test_a_paired_difference_of_everything_ends_at_one() -> None:
    # q = (1 - d) / 2, so n (1 - d) = z² (1 + d): d = (10 - 3.841459) / (10 + 3.841459).
    assert paired_difference(10, 0, 10) == (pytest.approx(0.444935, abs=1e-6), 1.0)
    assert paired_difference(0, 10, 10) == (-1.0, pytest.approx(-0.444935, abs=1e-6))


def test_without_a_pair_every_difference_is_possible() -> None:
    assert paired_difference(0, 0, 0) == (-1.0, 1.0)


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order_round() -> None:
    # 0.005 * 4 = 0.02, 0.01 * 3 = 0.03, 0.03 * 2 = 0.06, and 0.04 * 1 = 0.04 is no less than the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_ends_at_one() -> None:
    assert holm([0.6, 0.7, 1.0]) == [1.0, 1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_two_stuck_of_a_hundred_are_two_per_cent_though_they_end_last() -> None:
    # The 98 quiet runs ended after 8 s, whole and judged; the stuck ones are found out after 21 s.
    assert share_hit({21_000_000: 1, 21_500_000: 1}, judged=100) == ((21_000_000, 0.01), (21_500_000, 0.02))


def test_the_share_hit_ends_at_the_rate() -> None:
    # The demo's kafka-0.11 once: 12 of 1,999 are 0.600300 %, and were drawn as 0.735 %.
    steps = share_hit(dict.fromkeys(range(1, 13), 1), judged=1_999)

    assert len(steps) == 12
    assert steps[-1] == (12, pytest.approx(0.00600300, abs=5e-9))


def test_runs_hit_at_the_same_moment_are_one_step() -> None:
    assert share_hit({30: 1, 10: 2}, judged=4) == ((10, 0.5), (30, 0.75))


def test_no_hit_no_step() -> None:
    assert share_hit({}, judged=2) == ()
    assert share_hit({}, judged=0) == ()


def test_more_hits_than_judged_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="3 runs hit of 2 judged"):
        share_hit({1: 1, 2: 2}, judged=2)


def test_interval_and_p_value_are_scipys() -> None:
    for runs in (1, 2, 7, 20, 1000, 20_000):
        for hits in sorted({0, 1, runs // 3, runs // 2, runs - 1, runs}):
            theirs = binomtest(hits, runs, 0.5)
            assert mcnemar(hits, runs - hits) == pytest.approx(theirs.pvalue, rel=1e-9)
            interval = theirs.proportion_ci(confidence_level=0.95, method="wilson")
            assert wilson(hits, runs) == pytest.approx((interval.low, interval.high), rel=1e-12, abs=1e-15)
