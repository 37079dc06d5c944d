"""How operations ended, over all and by what they are. Jepsen's ``checker/stats``.

One that never succeeded makes the result unknown, as Jepsen's words say (its code says invalid): nothing was tested there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.workloads.halves import FAIL, INFO, INVOKE, OK, clients, counted
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import Json

NAME = "stats"


def op_stats(ops: Sequence[Op]) -> Result:
    """Count completions."""
    by_f: dict[str, Counter[str]] = {}
    for op in clients(ops):
        if op.type != INVOKE:
            by_f.setdefault(op.f, Counter())[op.type] += 1
    whole = sum(by_f.values(), Counter[str]())
    evidence = _counts(whole) | {"by_f": {f: _counts(by_f[f]) for f in sorted(by_f)}}
    message = f"{counted(whole.total(), 'operation')}: {whole[OK]} ok, {whole[FAIL]} failed, {whole[INFO]} unknown"
    never = [f for f in sorted(by_f) if not by_f[f][OK]]
    if never:
        return Result(NAME, "unknown", message, f"these operations never succeeded: {', '.join(never)}", evidence)
    return Result(NAME, "valid", message, None, evidence)


def _counts(ends: Counter[str]) -> dict[str, Json]:
    return {"count": ends.total(), "ok": ends[OK], "fail": ends[FAIL], "info": ends[INFO]}
