"""The timeline as a page: every operation a block in the column of its process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tidemark.harness.report.environment import written
from tidemark.harness.report.timeline import MOST_OPERATIONS, Timeline
from tidemark.harness.report.words import listed

ROW: Final = 17  # pixels
COLUMN: Final = 166
GUTTER: Final = 118
LANE: Final = 10
MARKS: Final = {"ok": "", "info": "? ", "fail": "✗ ", "open": "… "}
"""Outcomes are told apart without colours, too."""

_TIMES_EVERY = 4  # rows


def write_timeline(timeline: Timeline, out: Path, title: str, *, page: str = "", command: str = "") -> Path:
    """Write the page.

    Args:
        timeline: what it shows.
        out: where.
        title: of the history.
        page: the file beside it that says what was found.
        command: shows another window, once its options ``--from`` and ``--to`` are there.
    """
    marks = [
        (row, f"{row + 1}" if timeline.by_order else f"{time / 1e6:.4f}")
        for row, time in enumerate(timeline.times)
        if row % _TIMES_EVERY == 0
    ]
    left = GUTTER + timeline.lanes * LANE + 6
    sheet: dict[str, Any] = {
        "row": ROW,
        "column": COLUMN,
        "gutter": GUTTER,
        "lane": LANE,
        "left": left,
        "width": left + len(timeline.columns) * COLUMN,
        "marks": marks,
    }
    return written(
        out,
        "timeline.html.j2",
        timeline=timeline,
        title=title,
        page=page,
        what=what_is_shown(timeline, command),
        sheet=sheet,
        marks=MARKS,
        found=any(block.found for block in timeline.blocks),
    )


def what_is_shown(timeline: Timeline, command: str = "") -> str:
    """How many operations of how many, which are left out, and how to see others."""
    if not timeline.blocks:
        return "The history has no operations of clients."
    shown = len(timeline.blocks)
    if shown == timeline.total:
        return f"All {shown:,} operations." if shown > 1 else "The only operation."
    times = f", from {timeline.times[0] / 1e6:.3f} s to {timeline.times[-1] / 1e6:.3f} s" if timeline.times else ""
    around = f", around {timeline.around}" if timeline.around and timeline.around != "the beginning" else ""
    parts = [
        f"{count:,} {words}"
        for count, words in (
            (timeline.before, "before"),
            (timeline.after, "after"),
            (timeline.open_before, "that began before and never ended"),
        )
        if count
    ]
    most = f" A page shows {MOST_OPERATIONS:,} at most." if shown >= MOST_OPERATIONS else ""
    other = f" Another window: {command} --from SECONDS --to SECONDS." if command and not timeline.by_order else ""
    return f"{shown:,} of {timeline.total:,} operations{times}{around}. Left out: {listed(parts)}.{most}{other}"
