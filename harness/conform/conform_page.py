"""The page about a comparison: one self-contained file in the style of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.harness.conform.differing_endings import SideBySide
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.layout import presets_of, sides
from tidemark.harness.conform.show import STANDINGS
from tidemark.harness.report.environment import written
from tidemark.harness.report.glossary import GLOSSARY, PROMISES


def render(comparisons: Sequence[SideBySide], outdated: Sequence[KnownDifference], out: Path) -> Path:
    """Write the page.

    Args:
        comparisons: everything that was held side by side.
        outdated: findings that do not show any more.
        out: the page's path.
    """
    differences = [one for comparison in comparisons for one in comparison.differences]
    return written(
        out,
        "conform.html.j2",
        "tidemark.harness.conform",
        chapters=_chapters(comparisons),
        presets=presets_of(comparisons),
        count=len(comparisons),
        known=sum(one.finding is not None for one in differences),
        unexplained=sum(one.finding is None for one in differences),
        outdated=outdated,
        systems=list(dict.fromkeys(one.pairing.system.partition("@")[0] for one in comparisons if one.pairing.system)),
        standings={name: words for name, (words, _) in STANDINGS.items()},
        glossary=GLOSSARY,
        promises=PROMISES,
    )


def _chapters(comparisons: Sequence[SideBySide]) -> list[dict[str, Any]]:
    """One a script, each with its comparisons by preset."""
    chapters: dict[str, dict[str, Any]] = {}
    for comparison in comparisons:
        scenario = comparison.pairing.scenario
        chapter = chapters.setdefault(scenario.name, {"scenario": scenario, "by_preset": {}})
        chapter["by_preset"][comparison.pairing.preset] = {"of": comparison, "sides": sides(comparison)}
    return list(chapters.values())
