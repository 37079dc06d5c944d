"""Checkers of small objects that a Jepsen test may have used: sets, counters, ids, queues; and of any history's operations.

Each takes the halves of operations and gives a `checkers.result.Result`; `compose` makes several one.
"""

from __future__ import annotations

from checkers.workloads.by_name import NAMES, checker_named, judge
from checkers.workloads.compose import Checker, compose
from checkers.workloads.counter import counter
from checkers.workloads.final_set import final_set
from checkers.workloads.log_file_pattern import log_file_pattern
from checkers.workloads.op_stats import op_stats
from checkers.workloads.queue import queue
from checkers.workloads.set_full import set_full
from checkers.workloads.total_queue import total_queue
from checkers.workloads.unhandled_exceptions import unhandled_exceptions
from checkers.workloads.unique_ids import unique_ids

__all__ = [
    "NAMES",
    "Checker",
    "checker_named",
    "compose",
    "counter",
    "final_set",
    "judge",
    "log_file_pattern",
    "op_stats",
    "queue",
    "set_full",
    "total_queue",
    "unhandled_exceptions",
    "unique_ids",
]
