"""Numbers that are smaller or rounder than a given one, those worth most first."""

from __future__ import annotations

ROUND = (100_000, 200_000, 500_000, 1_000_000, 2_000_000)
"""Tenths of a second, in µs; what one would write by hand."""


def rounder(number: int) -> list[int]:
    """Candidates for a time or an amount: nothing, round ones below, then the number itself with ever more of its digits.

    >>> rounder(734_512)
    [0, 100000, 200000, 500000, 700000, 800000, 730000, 740000, 734000, 735000]
    >>> rounder(30)
    [0]
    """
    found = [0, *(one for one in ROUND if one < number)]
    for digits in (1, 2, 3):
        found += near(number, 10 ** max(len(str(number)) - digits, 0))
    return list(dict.fromkeys(one for one in found if one != number))


def near(number: int, grid: int) -> list[int]:
    """The multiples of a grid around a number, the smaller first.

    >>> near(3_590_167, 100_000)
    [3500000, 3600000]
    """
    below = number // grid * grid
    return [below] if below == number else [below, below + grid]
