"""What a hunt is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checkers.verdict import NEAR_MISS, VIOLATION

if TYPE_CHECKING:
    from checkers import Anomaly, Verdict


@dataclass(frozen=True, slots=True)
class Quarry:
    """Anomalies by name, as violations or near misses; any violation, if none is named."""

    names: tuple[str, ...] = ()

    def in_(self, verdict: Verdict) -> Anomaly | None:
        """The first of a run, by the time at which it shows."""
        for anomaly in verdict.anomalies:
            if anomaly.verdict == VIOLATION and not self.names:
                return anomaly
            if anomaly.verdict in (VIOLATION, NEAR_MISS) and anomaly.name in self.names:
                return anomaly
        return None
