"""What a run exercised: marks that say how near it came to where bugs are."""

from tidemark.checkers.marks.exercised import MARKS, Mark, by_mark, exercised

__all__ = ["MARKS", "Mark", "by_mark", "exercised"]
