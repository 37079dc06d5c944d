"""A table of results in the formats that papers, pages and spreadsheets take. One piece of code knows them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.checkers.verdict.visible import visible

Value: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of values under columns.

    Attributes:
        columns: their names; one that ends in ``>`` is aligned to the right, without it.
        rows: a value for each column; None is empty.
        title: of the whole table, if it has one.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]
    title: str = ""

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [name.removesuffix(">") for name in self.columns]

    @property
    def to_the_right(self) -> list[bool]:
        """For each column, whether it is aligned so."""
        return [name.endswith(">") for name in self.columns]


def as_csv(table: ResultTable) -> str:
    """Comma-separated values (RFC 4180) with a line of names; the title is left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows([visible(value) if isinstance(value, str) else value for value in row] for row in table.rows)
    return text.getvalue()


def as_markdown(table: ResultTable) -> str:
    """A table of GitHub's Markdown, with its title above."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |\n"

    head = f"**{_markdown(table.title)}**\n\n" if table.title else ""
    head += line([_markdown(name) for name in table.names])
    head += line(["--:" if right else "---" for right in table.to_the_right])
    return head + "".join(line([_markdown(_told(value)) for value in row]) for row in table.rows)


def as_latex(table: ResultTable) -> str:
    """A ``tabular`` that needs no package; its title is a comment, for the caption is the paper's.

    One that is wider than the text of an article is set smaller, and its widest columns are wrapped.
    """
    cells = [table.names, *([_told(value) for value in row] for row in table.rows)]
    shape = _shape([list(column) for column in zip(*cells, strict=True)], table.to_the_right)
    rows = [[shown(cell) for cell, shown in zip(row, shape.cells, strict=True)] for row in cells]
    rows[0] = [shown(name) for name, shown in zip(table.names, shape.names, strict=True)]
    lines = [" & ".join(row) + " \\\\\n" for row in rows]
    lines = ["{[}" + line[1:] if line.startswith("[") else line for line in lines]  # or it belongs to the line before
    head = f"% {_told(table.title)}\n" if table.title else ""
    head += f"{shape.begin}\\begin{{tabular}}{{{''.join(shape.columns)}}}\n\\hline\n"
    return head + lines[0] + "\\hline\n" + "".join(lines[1:]) + f"\\hline\n\\end{{tabular}}{shape.end}\n"


WRITERS: Final[dict[str, Callable[[ResultTable], str]]] = {"csv": as_csv, "latex": as_latex, "markdown": as_markdown}
"""By the name of the format."""
ENDINGS: Final = {"csv": "csv", "latex": "tex", "markdown": "md"}
"""Of files in these formats."""


def print_as_text(table: ResultTable, console: Console) -> None:
    """For a terminal."""
    shown = Table(
        title=Text(f"\n{table.title}") if table.title else None,
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for name, right in zip(table.names, table.to_the_right, strict=True):
        shown.add_column(visible(name), justify="right" if right else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(_told(value)) for value in row))
    console.print(shown, highlight=False)


def _told(value: Value) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else visible(" ".join(str(value).split()))


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "µ": r"$\mu$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex(text: str) -> str:
    r"""The text for LaTeX, whatever its engine and fonts; a character that not all of them have is told by its number.

    >>> _latex("kafka-2.7+no_fence: 5–9 % & more")
    'kafka-2.7+no\\_fence: 5--9 \\% \\& more'
    """
    return "".join(
        _LATEX.get(one) or (one if one.isascii() or (one.isalpha() and ord(one) < 0x180) else f"U+{ord(one):04X}")
        for one in text
    )


_LINE = 66
"""So many characters are on a line of an article."""
_SMALLER = (("footnotesize", 80), ("scriptsize", 94))
"""Smaller sizes, and how many are on a line in these."""


class _Shape(NamedTuple):
    """How a table is set in LaTeX: what stands before and behind it, its columns, and how their names and cells are written."""

    begin: str
    end: str
    columns: list[str]
    names: list[Callable[[str], str]]
    cells: list[Callable[[str], str]]


def _shape(columns: list[list[str]], to_the_right: list[bool]) -> _Shape:
    numbers = [(lambda text: _minus(_latex(text))) if right else _latex for right in to_the_right]
    plain = ["r" if right else "l" for right in to_the_right]
    widths = [max(map(len, column)) for column in columns]
    if sum(widths) + 2 * len(widths) <= _LINE:
        return _Shape("", "", plain, numbers, numbers)
    least = []
    for place, (names, *cells) in enumerate(columns):
        least.append(max(map(len, re.split(r"[ +/=,_-]", " ".join([names, *cells])))))
        if to_the_right[place]:  # only its name is wrapped
            least[place] = widths[place] = max(map(len, [*cells, *names.split()]), default=0)
    size, line = next((one for one in _SMALLER if sum(least) + len(least) <= one[1]), _SMALLER[-1])
    room = line - len(widths)
    found = (most for most in range(max(widths), 0, -1) if sum(_at_most(most, widths, least)) <= room)
    set_to = _at_most(next(found, 0), widths, least)
    wrapped = [one < width for one, width in zip(set_to, widths, strict=True)]
    return _Shape(
        f"{{\\{size}\\setlength{{\\tabcolsep}}{{2pt}}%\n",
        "}",
        [
            f"p{{{(one + 1) / line:.2f}\\linewidth}}" if wrap else as_it_is
            for one, wrap, as_it_is in zip(set_to, wrapped, plain, strict=True)
        ],
        [_stacked if right else shown for right, shown in zip(to_the_right, numbers, strict=True)],
        [_breakable if wrap else shown for wrap, shown in zip(wrapped, numbers, strict=True)],
    )


def _at_most(most: int, widths: list[int], least: list[int]) -> list[int]:
    return [max(min(width, most), narrowest) for width, narrowest in zip(widths, least, strict=True)]


def _stacked(name: str) -> str:
    """A word a line."""
    lines = r" \\ ".join(map(_latex, name.split()))
    return f"\\shortstack[r]{{{lines}}}" if " " in name.strip() else _latex(name)


def _breakable(text: str) -> str:
    r"""Long words may be broken where they are put together.

    >>> _breakable("kafka-4.0+elr lost")
    'kafka-4.0+\\allowbreak{}elr lost'
    """
    return re.sub(r"(\\_|[+/=,])(?=\S)", r"\1\\allowbreak{}", _latex(text))


def _minus(number: str) -> str:
    """A minus sign is longer than a hyphen.

    >>> _minus("-16.7 (-33.6 to -3.4)")
    '$-$16.7 ($-$33.6 to $-$3.4)'
    """
    return re.sub(r"(?<![\w.-])-(?=\d)", "$-$", number)
