"""What a hunt, or any number of runs, exercised: how many of them came to each mark, and to which none did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkers.marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping


def exercise(seen: Mapping[str, int]) -> dict[str, int]:
    """Mark → runs that came to it, in the order of :data:`checkers.marks.MARKS`; those that none came to with 0."""
    return {name: seen.get(name, 0) for name in MARKS}


def never(seen: Mapping[str, int]) -> list[str]:
    """The marks that no run came to."""
    return [name for name, runs in exercise(seen).items() if not runs]
