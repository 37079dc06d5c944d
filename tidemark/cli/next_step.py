"""What to do next about a history that says less than its owner wants to know."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from tidemark.checkers.objects.workloads import models_for
from tidemark.checkers.verdict.verdict import CLIENTS

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.checkers import History, Verdict

PAGE: Final = "docs/checking-your-own-history.md"


def next_step(path: Path, history: History, verdict: Verdict) -> str | None:
    """A sentence for who had the history at a path judged as a log's; None if there is nothing to say."""
    if "model" in history.meta:  # it was judged as one of that
        return None
    operations = history.ops if history.columns is None else history.columns.time
    if not len(operations) and not history.trace:
        return f"record something: there is not one operation here ({PAGE}#the-smallest-history)"
    if models := models_for(history):
        first, *others = models
        command = f"tidemark check {shlex.quote(str(path))} --model {first}"
        other = "".join(f", or --model {name}" for name in others)
        return f"{command}{other}: these are no operations on logs ({PAGE}#registers-logs-sets-counters-queues)"
    if verdict.judged_from == CLIENTS and verdict.stats.get("acked_unknown") and not _has_final_reads(history):
        return (
            "when all is done read every partition to its end, and say of these polls that they are final "
            f"({PAGE}#what-to-record)"
        )
    return None


def _has_final_reads(history: History) -> bool:
    if history.columns is not None:
        return bool((history.columns.final == 1).any())
    return any(op.final for op in history.ops)
