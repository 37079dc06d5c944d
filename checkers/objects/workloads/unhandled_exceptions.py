"""What operations of unknown outcome died of, by class, the most frequent first. Jepsen's ``checker/unhandled-exceptions``.

It finds nothing wrong. The class is that of Jepsen's ``:exception``, else the error as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.workloads.halves import INFO, clients
from tidemark.checkers.verdict.result import Result

NAME = "unhandled-exceptions"


def unhandled_exceptions(ops: Sequence[Op]) -> Result:
    """Count them."""
    classes: dict[str, list[Op]] = {}
    for op in clients(ops):
        if op.type == INFO and op.error is not None:
            classes.setdefault(str(op.error), []).append(op)
    found = sorted(classes.items(), key=lambda one: (-len(one[1]), one[0]))
    evidence = {
        "exceptions": [
            {"class": name, "count": len(those), "example": dict(zip(Op._fields, those[0], strict=True))}
            for name, those in found
        ]
    }
    told = ", ".join(f"{name} ({len(those)})" for name, those in found[:5])
    message = f"{len(found)} kinds of errors: {told}" if len(found) > 1 else told or "no errors"
    return Result(NAME, "valid", message, None, evidence)
