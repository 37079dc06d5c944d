"""Transactions of keys: what a million cost, and whether what is right and what is wrong is told apart.

Histories are those of the tests' store (`tests/support/transactional_store.py`): clients that overlap, aborted and unknown
outcomes, operations without end. CPU seconds of one core to judge operations that were read; then the peak of memory of the
process. ``python -m bench transactions`` ends with 1,000 histories of each level and of each anomaly.
"""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from transactional_store import IN_LISTS, IN_REGISTERS, LEVELS, TransactionalStore, injected

from tidemark.checkers.objects.transactions.check import list_append, rw_register

SIZES = (10_000, 100_000, 1_000_000)
EACH = 1_000


def main() -> None:
    """Print seconds, memory, and what was missed or blamed."""
    for lists in (True, False):
        for size in SIZES:
            _costs(size, lists=lists)
    for lists in (True, False):
        _correct(lists=lists)
        _injected(lists=lists)


def _costs(size: int, *, lists: bool) -> None:
    ops = TransactionalStore(1, lists=lists, keys=30, processes=20, writes=32).play(size)
    gc.collect()
    start = process_time()
    result = list_append(ops) if lists else rw_register(ops)
    took = process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{result.checker:<12}{size:>10,} transactions {took:>7.2f} s {peak:>7,.0f} MiB at most so far  {result.valid}"
    )


def _correct(*, lists: bool) -> None:
    for level in LEVELS:
        blamed = 0
        for seed in range(EACH):
            ops = TransactionalStore(seed, level, lists=lists).play(60)
            result = list_append(ops, promised=level) if lists else rw_register(ops, promised=level)
            blamed += result.valid != "valid"
        print(f"{'lists' if lists else 'registers':<12}{level:<28}{blamed} of {EACH:,} blamed")


def _injected(*, lists: bool) -> None:
    for name, anomaly in (IN_LISTS if lists else IN_REGISTERS).items():
        missed = 0
        for seed in range(EACH):
            ops = injected(TransactionalStore(seed, lists=lists).play(40), seed, anomaly)
            result = list_append(ops) if lists else rw_register(ops)
            missed += result.valid != "invalid" or name not in result.evidence["anomaly_counts"]
        print(f"{'lists' if lists else 'registers':<12}{name:<28}{missed} of {EACH:,} missed")
