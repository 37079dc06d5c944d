"""What damage strikes: which files, which bits, where a file ends."""

from random import Random

import pytest

from tidemark.nodes.core.damage import cut_at, draw_bits, draw_files

NAMES = ["a", "b", "c", "d"]


def drawn(which, seeds=200):
    return [draw_files(Random(seed).random, NAMES, which) for seed in range(seeds)]


def test_all_files_are_all():
    assert drawn("all", 3) == [NAMES] * 3


def test_one_file_is_any_of_them():
    found = drawn("one")

    assert {len(one) for one in found} == {1}
    assert {name for one in found for name in one} == set(NAMES)


def test_half_of_them_is_never_none():
    sizes = [len(one) for one in drawn("half")]

    assert min(sizes) == 1
    assert max(sizes) == 4
    assert 1.9 < sum(sizes) / len(sizes) < 2.3


def test_of_no_files_none_is_struck():
    assert [draw_files(Random(1).random, [], which) for which in ("all", "half", "one")] == [[], [], []]


def test_bits_are_those_of_the_file_in_order_and_each_once():
    bits = draw_bits(Random(1).random, 2, 100)

    assert bits == sorted(set(bits))
    assert set(bits) <= set(range(16))


def test_the_same_draw_strikes_the_same_share_of_a_longer_file():
    (short,), (long,) = (draw_bits(Random(1).random, size, 1) for size in (1000, 10_000))

    assert long // 10 == short


def test_an_empty_file_has_no_bits():
    assert draw_bits(Random(1).random, 0, 5) == []


@pytest.mark.parametrize(
    ("size", "share", "end"), [(1000, 250, 750), (1000, 1000, 0), (1000, 0, 999), (10, 1, 9), (0, 500, 0)]
)
def test_a_cut_takes_a_share_and_at_least_a_byte(size, share, end):
    assert cut_at(size, share) == end
