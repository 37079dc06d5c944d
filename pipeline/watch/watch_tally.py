"""What is known of a campaign that runs: its finished chunks added up, and how fast they come.

The numbers are those of the comparison (`tidemark.pipeline.compare.compare`), which add up over chunks, since no run is in two
of them.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tidemark.harness.report.comparison import ANY, Rate
from tidemark.pipeline.compare.statistics import wilson
from tidemark.pipeline.folder.record import ChunkSummary, Finished

NEWEST: Final = 8
"""So many violating runs are told, of those that came last."""
WINDOW_S: Final = 60.0
LEAST_CHUNKS: Final = 6
"""The pace is that of the last minute, or of the last chunks where these took longer."""

Hits = Mapping[tuple[str, str, str], int]
"""(variant, anomaly, verdict) → runs, of the judged ones. `ANY` stands for any anomaly."""


@dataclass(frozen=True, slots=True)
class NewViolation:
    """A run that broke its promise. `at`: when its chunk was written, µs since 1970; `first_us`: when it did, in its own time."""

    at: int
    variant: str
    plan: int
    anomalies: tuple[str, ...]
    first_us: int | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What some chunks have brought.

    Attributes:
        chunks: with the moment at which each was finished, seconds since 1970.
        totals: variant → `runs`, `judged`, `unknown`, `errors`.
        hits: see `Hits`.
        newest: of their violating runs the newest.
    """

    chunks: Sequence[tuple[ChunkSummary, float]]
    totals: Mapping[str, Mapping[str, int]]
    hits: Hits
    newest: Sequence[NewViolation]


@dataclass(frozen=True, slots=True)
class WatchedVariant:
    """How far one variant has come; `anomalies` has (name, violations, permitted), the names in order."""

    variant: str
    runs: int
    plans: int
    errors: int
    violating: Rate
    permitting: Rate
    anomalies: tuple[tuple[str, Rate, Rate], ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values, the rates as `tidemark report --json` has them."""
        return {
            "variant": self.variant,
            "runs": self.runs,
            "plans": self.plans,
            "judged": self.violating.runs,
            "unknown": self.violating.unknown,
            "errors": self.errors,
            "violation": asdict(self.violating),
            "permitted": asdict(self.permitting),
            "anomalies": [
                {"name": name, "violation": asdict(violation), "permitted": asdict(permitted)}
                for name, violation, permitted in self.anomalies
            ],
        }


@dataclass
class Tally:
    """Everything that batches have brought so far.

    Attributes:
        chunks: those that were counted.
        newest: the violating runs that came last, the newest first.
    """

    chunks: Finished = field(default_factory=dict)
    newest: list[NewViolation] = field(default_factory=list)
    _totals: dict[str, Counter[str]] = field(default_factory=dict)
    _hits: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    _ends: list[tuple[float, int]] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Count it."""
        for chunk, at in batch.chunks:
            self.chunks[chunk.variant, chunk.number] = chunk
            self._ends.append((at, chunk.runs))
        for variant, totals in batch.totals.items():
            self._totals.setdefault(variant, Counter()).update(totals)
        self._hits.update(batch.hits)
        self.newest = heapq.nlargest(
            NEWEST, [*self.newest, *batch.newest], key=lambda run: (run.at, run.variant, run.plan)
        )

    @property
    def runs(self) -> int:
        """How many are done."""
        return sum(totals["runs"] for totals in self._totals.values())

    def variant(self, name: str, plans: int) -> WatchedVariant:
        """One variant, which is to meet so many plans."""
        totals = self._totals.get(name, Counter())
        judged, unknown = totals["judged"], totals["unknown"]

        def rate(anomaly: str, verdict: str) -> Rate:
            hits = self._hits[name, anomaly, verdict]
            return Rate(hits, judged, *wilson(hits, judged), unknown)

        kinds = {"violation", "permitted"}
        names = sorted({anomaly for of, anomaly, kind in self._hits if of == name and kind in kinds} - {ANY})
        return WatchedVariant(
            name,
            totals["runs"],
            plans,
            totals["errors"],
            rate(ANY, "violation"),
            rate(ANY, "permitted"),
            tuple((anomaly, rate(anomaly, "violation"), rate(anomaly, "permitted")) for anomaly in names),
        )

    def runs_a_second(self, now: float, begun: float | None) -> float | None:
        """How fast it goes, None if nobody can tell yet: the runs of the last minute, or of as many chunks as say something.

        Args:
            now: seconds since 1970.
            begun: when whoever works on it began, since when alone anything counts; the end of the first chunk if nobody knows.
        """
        ends = sorted(self._ends)
        if not ends:
            return None
        begun = ends[0][0] if begun is None else begun
        since = min(now - WINDOW_S, ends[-1 - LEAST_CHUNKS][0]) if len(ends) > LEAST_CHUNKS else begun
        since = max(since, begun)
        runs = sum(count for at, count in ends if at > since)
        return runs / (now - since) if runs and now > since else None
