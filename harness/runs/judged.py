"""One run and its verdict, whatever world it happened in."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checkers import History, Verdict


@dataclass(slots=True)
class JudgedRun:
    """A run and what the checkers say of it.

    Attributes:
        history: see docs/history.md. verdict: see docs/anomalies.md.
        digest: equal digests mean equal runs.
        events: events delivered. virtual_us: the run's length, in virtual time where time is.
    """

    history: History
    verdict: Verdict
    digest: str
    events: int
    virtual_us: int
