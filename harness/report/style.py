"""How figures look: colours that a colour-blind reader can tell apart, text of at least 9 pt, the same bytes every time."""

from __future__ import annotations

import io
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from tidemark.checkers.verdict.visible import visible
from tidemark.harness.report.own_files import is_ours

INK: Final = "#222222"
MUTED: Final = "#6b6b6b"
GRID: Final = "#d9d9d9"
LOST: Final = "#D55E00"  # the record in question
GONE: Final = "#B00020"  # where it was destroyed
RIVAL: Final = "#56338a"  # what stands in its place
DECISIVE: Final = "#F0C419"  # the fault that decided
BACK: Final = "#1b6e3c"  # a broker that was down is there again
EPOCHS: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
"""Okabe and Ito's palette without the colour of the lost record; epochs take turns."""

VARIANTS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS: Final = "osD^vPX"
"""Variants differ in marker and line style too, never in colour alone."""

SIZE: Final = 9.5  # pt
SMALL: Final = 9.0  # pt

SETTINGS: Final[dict[str, Any]] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": SIZE,
    "axes.titlesize": 11,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SIZE,
    "legend.fontsize": SMALL,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # whole letters, which publishers ask for
    "svg.hashsalt": "tidemark",
    "hatch.linewidth": 0.6,
    "text.hinting": "none",  # or a word is of another width in the layout (100 dpi), in the PNG (150) and in the SVG (72)
}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches. Draw on it inside `looks()`."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def looks() -> AbstractContextManager[None]:
    """The context in which figures are drawn and saved."""
    return mpl.rc_context(SETTINGS)  # type: ignore[arg-type]  # its keys are a list of 300 literals


def save(figure: Figure, folder: Path, name: str, label: str, *, for_paper: bool = False) -> str:
    """Save `<name>.svg` in `folder`; return it to stand in HTML, described by `label` to screen readers.

    Args:
        figure: what is drawn.
        folder: for the files.
        name: theirs, without suffix.
        label: what it shows.
        for_paper: save `<name>.png` and `<name>.pdf`, too, which takes three times as long. Without it old ones of ours go.
    """
    for words in figure.findobj(Text):
        assert isinstance(words, Text)  # noqa: S101 - what was looked for
        words.set_text(visible(words.get_text()))
    label = visible(label)
    _settle(figure)
    # The canvases are asked themselves: savefig draws all once more before each file, to find a layout, which is settled here.
    svg: Any = FigureCanvasSVG(figure)  # Any: matplotlib's printing methods have no types
    buffer = io.StringIO()
    svg.print_svg(buffer, metadata={"Date": None, "Creator": "Tidemark", "Title": label})
    text = buffer.getvalue()
    (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    png, pdf = folder / f"{name}.png", folder / f"{name}.pdf"
    if for_paper:
        from matplotlib.backends.backend_pdf import FigureCanvasPdf  # a seventh of a second, and few want it

        printed: Any = FigureCanvasPdf(figure)
        printed.print_pdf(pdf, metadata={"CreationDate": None, "Creator": "Tidemark", "Title": label})
        figure.set_dpi(150)
        pixels: Any = FigureCanvasAgg(figure)
        pixels.print_png(png, metadata={"Software": "Tidemark"})
    else:
        for path in (png, pdf):
            if path.is_file() and is_ours(path):
                path.unlink()
    return inline(text, name, label)


def _settle(figure: Figure) -> None:
    """Fix where the axes lie. The solver that finds their places does not find the last digit of them again in another process or
    with other objects in memory, and names in an SVG follow from all digits.
    """
    figure.draw_without_rendering()
    places = [axes.get_position() for axes in figure.axes]
    figure.set_layout_engine("none")
    for axes, place in zip(figure.axes, places, strict=True):
        axes.set_position((round(place.x0, 5), round(place.y0, 5), round(place.width, 5), round(place.height, 5)))


def inline(svg: str, prefix: str, label: str) -> str:
    """An SVG document as an element of an HTML page: no prologue, ids of its own, wide as its column."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'xlink:href="#{prefix}-\1"', svg)
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escaped}" ', 1)
