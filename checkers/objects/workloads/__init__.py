"""Checkers of small objects that a Jepsen test may have used: sets, counters, ids, queues; and of any history's operations.

Each takes the halves of operations and gives a `tidemark.checkers.verdict.result.Result`; `compose` makes several one.
"""

from __future__ import annotations

from tidemark.checkers.objects.workloads.bank import bank
from tidemark.checkers.objects.workloads.by_name import NAMES, Asked, checker_named, judge, models_for
from tidemark.checkers.objects.workloads.causal_reverse import causal_reverse
from tidemark.checkers.objects.workloads.compose import Checker, compose
from tidemark.checkers.objects.workloads.counter import counter
from tidemark.checkers.objects.workloads.final_set import final_set
from tidemark.checkers.objects.workloads.log_file_pattern import log_file_pattern
from tidemark.checkers.objects.workloads.long_fork import long_fork
from tidemark.checkers.objects.workloads.op_stats import op_stats
from tidemark.checkers.objects.workloads.queue import queue
from tidemark.checkers.objects.workloads.set_full import set_full
from tidemark.checkers.objects.workloads.total_queue import total_queue
from tidemark.checkers.objects.workloads.unhandled_exceptions import unhandled_exceptions
from tidemark.checkers.objects.workloads.unique_ids import unique_ids

__all__ = [
    "NAMES",
    "Asked",
    "Checker",
    "bank",
    "causal_reverse",
    "checker_named",
    "compose",
    "counter",
    "final_set",
    "judge",
    "log_file_pattern",
    "long_fork",
    "models_for",
    "op_stats",
    "queue",
    "set_full",
    "total_queue",
    "unhandled_exceptions",
    "unique_ids",
]
