"""What a run exercised: marks that say how near it came to where bugs are."""

from tidemark.checkers.marks.exercised import Mark, by_mark, exercised
from tidemark.checkers.marks.names import MARKS

__all__ = ["MARKS", "Mark", "by_mark", "exercised"]
