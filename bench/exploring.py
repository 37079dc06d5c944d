"""The search of all states: states and moves a second of CPU, how much of it the core had to work out, and the truth table."""

from __future__ import annotations

from tidemark.harness.search.explore.bounds import Bounds
from tidemark.harness.search.explore.search import Limits, explore
from tidemark.harness.search.explore.truth_table import CELLS, run_cell
from tidemark.nodes.core.variant import parse_variant

TLC = 12_000
"""Distinct states a second that TLC is said to reach on the public specification with one worker; not measured here."""
CASES = (
    ("kafka-2.1", Bounds(brokers=2, records=2, epochs=3)),
    ("kafka-2.1+forget-log-ends", Bounds(brokers=3, records=2, epochs=3)),
    ("kafka-3.7+forget-log-ends", Bounds(brokers=3, records=2, epochs=3)),
)


def main() -> None:
    """Print the rates, then every cell of the truth table with its time."""
    for variant, bounds in CASES:
        found = explore(parse_variant(variant), bounds, ("StrongIsr", "LogMatchingHw"))
        rate = found.states / found.cpu_seconds
        print(f"{variant}, {bounds.in_words()}: {found.outcome}")
        print(
            f"  {rate:>10,.0f} states/s   ({found.states:,} states; {TLC / rate:.1f} × slower than {TLC:,}; bar: 3 ×)"
        )
        print(f"  {found.moves / found.cpu_seconds:>10,.0f} moves/s    ({found.moves:,} moves)")
        print(f"  {found.worked_out / found.moves:>10.1%} of the moves worked out by the core, the others looked up")
    for cell in CELLS:
        print(run_cell(cell, Limits(seconds=600)).in_words())
