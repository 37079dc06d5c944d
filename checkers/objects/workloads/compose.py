"""Several checkers as one. Jepsen's ``checker/compose`` and ``check-safe``.

>>> from tidemark.checkers.objects.workloads import compose, op_stats
>>> def broken(ops):
...     raise KeyError("x")
>>> result = compose({"stats": op_stats, "broken": broken})([])
>>> result.valid, result.parts["stats"].valid, result.parts["broken"].unknown_because
('unknown', 'valid', "it crashed: KeyError: 'x'")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.verdict.result import Result, worst

Checker = Callable[[Sequence[Op]], Result]
"""Judges the halves of a history's operations."""


def compose(checkers: Mapping[str, Checker], name: str = "all") -> Checker:
    """A checker that runs all, each by itself: one that crashes makes its own part unknown, and no other."""

    def check(ops: Sequence[Op]) -> Result:
        return together({part: _safely(part, checker, ops) for part, checker in checkers.items()}, name)

    return check


def together(parts: Mapping[str, Result], name: str = "all") -> Result:
    """Invalid if any part is, else unknown if any is, else valid."""
    valid = worst([part.valid for part in parts.values()])
    message = "; ".join(f"{part}: {one.message}" for part, one in parts.items() if one.valid == valid)
    unknown = "; ".join(f"{part}: {one.unknown_because}" for part, one in parts.items() if one.valid == "unknown")
    return Result(name, valid, message, unknown if valid == "unknown" else None, {}, dict(parts))


def _safely(name: str, checker: Checker, ops: Sequence[Op]) -> Result:
    try:
        return checker(ops)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one checker is its own affair
        told = f"{type(error).__name__}: {error}"
        return Result(name, "unknown", "the checker crashed", f"it crashed: {told}", {"exception": told})
