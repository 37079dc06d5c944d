"""Two runs of a plan as rows: what both do, then what either does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidemark.harness.report.moments import MOST_MOMENTS, Moment
from tidemark.harness.report.why_section import Deed, Parting, SideBySide

MOST_ROWS: Final = 2 * MOST_MOMENTS


def rows_of(failing: Sequence[Moment], repaired: Sequence[Moment], parting: Parting | None) -> tuple[SideBySide, ...]:
    """The rows of two stories, by time; a step of both, at the same time and in the same words, is one row.

    The step at which they part is in it, also where no story had room for it.
    """
    left = _deeds(failing, None if parting is None else parting.failing)
    right = _deeds(repaired, None if parting is None else parting.repaired)
    rows = [SideBySide(deed, deed) for deed in left if deed in right]
    rows += [SideBySide(deed, None) for deed in left if deed not in right]
    rows += [SideBySide(None, deed) for deed in right if deed not in left]
    if parting is not None:
        rows.append(SideBySide(parting.failing, parting.repaired, parts=True))
    return tuple(sorted(rows, key=_place)[:MOST_ROWS])


def _deeds(moments: Sequence[Moment], but: Deed | None) -> dict[Deed, None]:
    """The moments of a story without the one that has a row of its own; what else happened with it stays."""
    found: dict[Deed, None] = {}
    for moment in moments:
        sentence = moment.sentence
        if but is not None and moment.time == but.time:
            sentence = sentence.replace(but.sentence, "").replace("  ", " ").strip()
        if sentence:
            found[Deed(moment.time, sentence, moment.decided)] = None
    return found


def _place(row: SideBySide) -> tuple[int, bool, bool]:
    times = [deed.time for deed in (row.failing, row.repaired) if deed is not None]
    return min(times), row.parts, row.failing is None
