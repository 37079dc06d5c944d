"""Which rows of a comparison may differ by chance: one sentence for all that stands in the table of the first screen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tidemark.harness.report.comparison import ANY, LOST, Between, Comparison, VariantResult
from tidemark.harness.report.rule_words import called, rule_words
from tidemark.harness.report.words import CLEAR, listed, p_words


def chance(comparison: Comparison) -> str:
    """Which rows differ by no more than chance may do, and that the others differ by more. Empty where no two met the same plans,
    or nothing differs.

    Of rows next to each other the corrected p-value counts. Of two others it is only told that they may differ by chance: where
    their own p-value, not corrected, says so.
    """
    alike: dict[str, dict[str, list[str]]] = {}
    clear, corrected = [], 0
    for one, other in combinations(comparison.variants, 2):
        counts = []
        for two in _tests(comparison, one, other):
            beside = two.p_adjusted is not None
            corrected += beside
            mine, its = _hit(one, two.name), _hit(other, two.name)
            p_value = two.p_value if two.p_adjusted is None else two.p_adjusted
            if mine == its:
                continue
            if p_value >= CLEAR:
                counts.append(f"{mine:,} and {its:,} {'losses' if two.name == LOST else 'failures'}")
            elif beside:
                clear.append(p_value)
        if counts:
            alike.setdefault(one.variant, {}).setdefault("; ".join(counts), []).append(other.variant)
    told = [
        f"{rule_words(one).called} {listed([f'against {called(others)} ({counts})' for counts, others in against.items()])}"
        for one, against in alike.items()
    ]
    sentences = [f"May be chance: {'; '.join(told)}."] if told else []
    if clear:
        which = "All other" if told else "All"
        sentences.append(
            f"{which} differences between neighbouring rows are hardly chance (largest p {p_words(max(clear))}; exact McNemar "
            f"tests, corrected by Holm’s method for {corrected} comparisons)."
        )
    return " ".join(sentences)


def _tests(comparison: Comparison, one: VariantResult, other: VariantResult) -> Iterator[Between]:
    """Two rows' losses and failures, on the plans that both met."""
    for name in (LOST, ANY):
        two = comparison.two(one.variant, other.variant, name)
        if two is not None and two.pairs:
            yield two


def _hit(variant: VariantResult, name: str) -> int:
    """How many of its runs are hit by what the first screen counts."""
    return variant.loss.hits if name == LOST else variant.violating.hits
