"""What a hunt is for."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checkers import Anomaly, Verdict
from tidemark.checkers.verdict.verdict import NEAR_MISS, VIOLATION
from tidemark.harness.search.shrink.choice import chosen


@dataclass(frozen=True, slots=True)
class Quarry:
    """Anomalies by name, as violations or near misses; any violation, if none is named."""

    names: tuple[str, ...] = ()

    def in_(self, verdict: Verdict) -> Anomaly | None:
        """The most telling one of a run: a lost record rather than the poll that missed it."""
        if not self.names:
            return chosen(verdict)
        names = {one.name for one in verdict.anomalies if one.verdict in (VIOLATION, NEAR_MISS)}
        return next((chosen(verdict, name) for name in self.names if name in names), None)

    def all_in(self, verdict: Verdict) -> list[Anomaly]:
        """Every one of them."""
        wanted = (VIOLATION, NEAR_MISS) if self.names else (VIOLATION,)
        return [
            one for one in verdict.anomalies if one.verdict in wanted and (not self.names or one.name in self.names)
        ]
