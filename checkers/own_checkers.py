"""Checkers of one's own, beside Tidemark's: what they find counts as what ours find.

>>> from tidemark.checkers import Anomaly, History, check, sent
>>> def odd_offsets(history):
...     for op in history.ops:
...         for _, key, (offset, value) in op.value if op.type == "ok" else ():
...             if offset % 2:
...                 yield Anomaly("odd-offset", "violation", op.time, key, f"Record {value} of {key} is at offset {offset}.")
>>> def broken(history):
...     return history.no_such_thing
>>> history = History.of(ops=[sent(1, "p1", "t-0", 7, 3)])
>>> verdict = and_checked_by(check(history), history, {"odd_offsets": odd_offsets, "broken": broken})
>>> [anomaly.message for anomaly in verdict.named("odd-offset")]
['Record 7 of t-0 is at offset 3.']
>>> verdict.valid, verdict.stats["own_checkers"]["odd_offsets"]
('invalid', {'valid': 'invalid', 'anomalies': 1, 'unknown_because': None})
>>> verdict.stats["own_checkers"]["broken"]["unknown_because"]
"it crashed: AttributeError: 'History' object has no attribute 'no_such_thing' (line 2)"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import GRAVITY, VIOLATION, Anomaly, Verdict


class Checker(Protocol):
    """Judges a history. A function does, and how it names its argument is its own affair."""

    def __call__(self, history: History, /) -> Iterable[Anomaly] | Result | None:
        """What it finds: anomalies, one after the other, or one result for the whole."""


def and_checked_by(verdict: Verdict, history: History, checkers: Mapping[str, Checker]) -> Verdict:
    """A verdict, and what more checkers say. A violation of theirs makes it ``"invalid"``; one that crashes, or cannot tell, makes
    a valid one ``"unknown"``. ``stats["own_checkers"]`` has what each said.
    """
    anomalies = [*verdict.anomalies]
    reasons = [verdict.unknown_because] if verdict.unknown_because else []
    told = {}
    for name, checker in checkers.items():
        found, because = _asked(name, checker, history)
        anomalies += found
        if because is not None:
            reasons.append(f"{name}: {because}")
        broken = any(one.verdict == VIOLATION for one in found)
        valid = "invalid" if broken else "valid" if because is None else "unknown"
        told[name] = {"valid": valid, "anomalies": len(found), "unknown_because": because}
    anomalies.sort(key=lambda anomaly: (anomaly.time, anomaly.partition))
    stats = {**verdict.stats, "own_checkers": told}
    if any(one.verdict == VIOLATION for one in anomalies):
        return replace(verdict, valid="invalid", anomalies=tuple(anomalies), unknown_because=None, stats=stats)
    unknown = "; ".join(reasons) or None
    valid = "unknown" if unknown else "valid"
    return replace(verdict, valid=valid, anomalies=tuple(anomalies), unknown_because=unknown, stats=stats)


def _asked(name: str, checker: Checker, history: History) -> tuple[list[Anomaly], str | None]:
    """What a checker found, and why it cannot tell more; what it found before it crashed counts."""
    found: list[Anomaly] = []
    try:
        said = checker(history)
        if isinstance(said, Result):
            return _of_result(name, said)
        for one in said or ():
            if not isinstance(one, Anomaly) or one.verdict not in GRAVITY:
                return found, f"it gave {one!r:.80}, which is no anomaly with one of the verdicts {', '.join(GRAVITY)}"
            found.append(one)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is wrong with one checker is its own affair
        return found, f"it crashed: {type(error).__name__}: {error}{_line(error)}"
    return found, None


def _of_result(name: str, result: Result) -> tuple[list[Anomaly], str | None]:
    if result.valid == "invalid":
        return [Anomaly(name, VIOLATION, 0, "", result.message, evidence=result.evidence)], None
    return [], (result.unknown_because or result.message) if result.valid == "unknown" else None


def _line(error: BaseException) -> str:
    """Where it happened."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return "" if at is None else f" (line {at.tb_lineno})"
