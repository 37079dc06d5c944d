"""What some finished chunks come to, by the questions of the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidemark.pipeline.compare.questions import COUNTS, DERIVED, HITS, SUMMED, TOTALS
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.watch.watch_tally import NEWEST, Batch, NewViolation

if TYPE_CHECKING:
    from tidemark.pipeline.engines.engine import Engine

TOLD: Final = ("runs", "judged", "unknown", "errors")
NEW_VIOLATIONS: Final = """
    SELECT r.at, r.variant, r.plan, r.first_violation_us, sort_array(collect_set(a.name)) AS names
    FROM runs r JOIN anomalies a ON r.variant = a.variant AND r.plan = a.plan
    WHERE r.valid != 'unknown' AND r.violations > 0 AND a.verdict = 'violation'
    GROUP BY r.at, r.variant, r.plan, r.first_violation_us ORDER BY r.at DESC, r.variant DESC, r.plan DESC LIMIT :most"""


def counted(engine: Engine, chunks: Sequence[tuple[ChunkSummary, float]]) -> Batch:
    """Count them.

    Args:
        engine: has their rows as `runs` and `anomalies`, and in `runs` also `at`, when the chunk was written, µs since 1970.
        chunks: with the moment at which each was finished, seconds since 1970.
    """
    engine.name("hits", HITS, DERIVED)
    sums = ", ".join(f"sum({name}) AS {name}" for name in SUMMED)
    totals = {row["variant"]: {name: row[name] for name in TOLD} for row in engine.rows(TOTALS.format(sums=sums))}
    hits = {(row["variant"], row["name"], row["verdict"]): row["hits"] for row in engine.rows(COUNTS)}
    newest = []
    if any(chunk.violating for chunk, _ in chunks):
        newest = [
            NewViolation(row["at"], row["variant"], row["plan"], tuple(row["names"]), row["first_violation_us"])
            for row in engine.rows(NEW_VIOLATIONS, {"most": NEWEST})
        ]
    return Batch(chunks, totals, hits, newest)
