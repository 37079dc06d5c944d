"""The operations of clients as columns of numbers, so that ten million of them fit into memory and are judged at once."""

from __future__ import annotations

from tidemark.checkers.history.columns.builder import ColumnsBuilder, columns_of
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.columns.steps import Step, StepRows, Steps
from tidemark.checkers.history.columns.versions import Sighting, Versions, by_key, first_of_each

__all__ = [
    "Columns",
    "ColumnsBuilder",
    "Sighting",
    "Step",
    "StepRows",
    "Steps",
    "Versions",
    "by_key",
    "columns_of",
    "first_of_each",
]
