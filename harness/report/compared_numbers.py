"""The numbers of a variant that was compared, for tables that programs read."""

from __future__ import annotations

from typing import Final, Protocol

from tidemark.harness.report.comparison import Paired, Rate
from tidemark.harness.report.result_table import Value

NUMBERS: Final = (
    *("variant", "runs", "judged", "violating", "share", "low", "high", "acked_loss"),
    *("only_here", "only_baseline", "difference", "difference_low", "difference_high"),
)
"""Their names; a p-value stands behind them, by the name of what it is. Shares are between 0 and 1."""


class Compared(Protocol):
    """What a variant came to."""

    @property
    def variant(self) -> str:
        """Its name."""

    @property
    def runs(self) -> int:
        """All of them."""

    @property
    def violating(self) -> Rate:
        """Judged runs that violated something."""

    @property
    def loss(self) -> Rate:
        """Judged runs that lost an acknowledged record against the promise."""


def numbers_of(one: Compared, pair: Paired | None) -> tuple[Value, ...]:
    """Its values under `NUMBERS`, and the p-value; without a pair what is paired is empty."""
    rate = one.violating
    found = (one.variant, one.runs, rate.runs, rate.hits, rate.share, rate.low, rate.high, one.loss.hits)
    if pair is None:
        return (*found, *[None] * 6)
    return (*found, pair.only_here, pair.only_baseline, pair.difference, pair.low, pair.high, pair.p_adjusted)
