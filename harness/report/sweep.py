"""What a sweep found: a paired comparison in each cell of a grid of settings, as plain values and as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from tidemark.harness.report.compared_numbers import NUMBERS, numbers_of
from tidemark.harness.report.comparison import Paired, Rate
from tidemark.harness.report.result_table import ResultTable, Value
from tidemark.harness.report.words import interval, p_words

MOST_TOLD: Final = 4
"""So many cells that cannot be are told, one by one."""


@dataclass(frozen=True, slots=True)
class SweptVariant:
    """One variant in one cell; `paired` with the baseline, by any violation, and None of the baseline."""

    variant: str
    runs: int
    errors: int  # runs that raised
    violating: Rate  # judged runs that violated something
    loss: Rate  # judged runs that lost an acknowledged record against the promise
    paired: Paired | None


@dataclass(frozen=True, slots=True)
class SweptCell:
    """One cell: the values of the settings that are swept, as they are typed; without them it is all cells together."""

    at: Mapping[str, str]
    variants: tuple[SweptVariant, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A grid of paired comparisons.

    Attributes:
        axes: settings that are swept → their values, as they are typed.
        cells: in the grid's order, without those that cannot be.
        together: all plans of all cells, each once, however many cells have it. Cells share much of their plans, so it is a count
            and no sample: nothing is paired, and nothing should be read into its intervals.
        plans: of each cell. different: plans of all cells, each counted once.
        left_out: cells that cannot be, each with why.
        settings: what all cells share, in words.
    """

    name: str
    axes: Mapping[str, tuple[str, ...]]
    baseline: str
    cells: tuple[SweptCell, ...]
    together: SweptCell
    plans: int
    different: int
    seed: int
    left_out: tuple[str, ...] = ()
    settings: str = ""

    @property
    def variants(self) -> list[str]:
        """Their names."""
        return [one.variant for one in self.together.variants]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def sentences(self) -> list[str]:
        """What was done, and what was left out."""
        shared = len(self.cells) * self.plans - self.different
        told = f"{len(self.cells)} cells of {self.plans} plans each, the same under every variant ({self.settings})."
        if shared:
            told += f" {shared} plans are an earlier cell's, too: they were run once, and count once in the last line."
        more = [f"Left out as well: {len(self.left_out) - MOST_TOLD} more."] if self.left_out[MOST_TOLD:] else []
        return [told, *(f"Left out: {words}." for words in self.left_out[:MOST_TOLD]), *more]

    def to_read(self) -> ResultTable:
        """A line for each cell, a column for each variant: runs that violated something, with the 95 % interval of their share."""
        rows: list[tuple[Value, ...]] = [
            (*(cell.at[axis] for axis in self.axes), self._runs(cell), *map(_rate, cell.variants))
            for cell in self.cells
        ]
        empty = ("all plans, each once", *[None] * (len(self.axes) - 1))
        rows.append((*empty, self._runs(self.together), *(one.violating.hits for one in self.together.variants)))
        columns = (*self.axes, "runs>", *(f"{variant}>" for variant in self.variants))
        return ResultTable(columns, rows, "Runs with a violation, of those judged (95 % Wilson interval)")

    def to_work_with(self) -> ResultTable:
        """A line for each variant in each cell, with all numbers by themselves; shares are between 0 and 1."""
        rows = [
            (*(cell.at[axis] for axis in self.axes), *numbers_of(one, one.paired))
            for cell in self.cells
            for one in cell.variants
        ]
        return ResultTable((*self.axes, *NUMBERS, "p_holm"), rows)

    @staticmethod
    def _runs(cell: SweptCell) -> int:
        return max(one.runs for one in cell.variants)


def _rate(one: SweptVariant) -> str:
    rate = one.violating
    of = f" of {rate.runs}" if rate.runs != one.runs else ""
    p = ""
    if one.paired is not None and one.paired.p_adjusted < 0.05:
        p = f", p {p_words(one.paired.p_adjusted)}"
    return f"{rate.hits}{of} ({interval(rate)}{p})"
