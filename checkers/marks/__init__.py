"""What a run exercised: marks that say how near it came to where bugs are."""

from tidemark.checkers.marks.exercised import Mark, exercised
from tidemark.checkers.marks.known import MARKS, by_mark

__all__ = ["MARKS", "Mark", "by_mark", "exercised"]
