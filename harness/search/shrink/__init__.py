"""Shrinking: from a failing run to the least plan that shows the same anomaly of the same cause."""

from tidemark.harness.search.shrink.budget import Budget, BudgetSpentError
from tidemark.harness.search.shrink.cause import Cause, causes_of, facts_with_numbers
from tidemark.harness.search.shrink.shrinker import INTERRUPTED, SPENT, WHOLE, Progress, Shrunk, how_often, shrink

__all__ = [
    "INTERRUPTED",
    "SPENT",
    "WHOLE",
    "Budget",
    "BudgetSpentError",
    "Cause",
    "Progress",
    "Shrunk",
    "causes_of",
    "facts_with_numbers",
    "how_often",
    "shrink",
]
