"""Checkers: they read a history, and say which anomalies it shows and whether the run's contract permits them.

`check` is the way in. The anomalies are listed in ``checkers/registry.py``, and defined in the files named there; the promises in
``checkers/replicas/contract.py``, the history in ``docs/history.md``.
"""

from __future__ import annotations

from tidemark.checkers.check import check
from tidemark.checkers.history.history import History, Op, deleted, polled, sent
from tidemark.checkers.history.history_file import (
    HistoryFormatError,
    history_lines,
    parse_history,
    write_history,
)
from tidemark.checkers.history.long_file import read_history
from tidemark.checkers.history.reading import read_any, read_stream
from tidemark.checkers.history.trace_events import TRACE_FIELDS
from tidemark.checkers.replicas.contract import ALL_PROMISES, PROMISES
from tidemark.checkers.verdict.verdict import Anomaly, Judgement, Verdict

__all__ = [
    "ALL_PROMISES",
    "PROMISES",
    "TRACE_FIELDS",
    "Anomaly",
    "History",
    "HistoryFormatError",
    "Judgement",
    "Op",
    "Verdict",
    "check",
    "deleted",
    "history_lines",
    "parse_history",
    "polled",
    "read_any",
    "read_history",
    "read_stream",
    "sent",
    "write_history",
]
