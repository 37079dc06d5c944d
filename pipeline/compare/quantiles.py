"""How times and shares spread over the runs of a variant: exact percentiles that Spark finds by sorting, and the driver only reads.

Spark's own `percentile` keeps every value of a group in memory; a sort goes to the disk where memory ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.report.comparison import Rate, Recovery, Spread
from tidemark.pipeline.compare.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Row

PERCENTS = (5, 25, 50, 75, 95)
_LOWER = "min(CASE WHEN upto > ({percent} * (n - 1)) div 100 THEN value END) AS low_{percent}"
_UPPER = "min(CASE WHEN upto > ({percent} * (n - 1) + 99) div 100 THEN value END) AS high_{percent}"
_REACHED = "min(CASE WHEN upto >= ({percent} * n + 99) div 100 THEN value END) AS reached_{percent}"

_SQL = """
    WITH valued AS (
        SELECT variant, what, value FROM (
            SELECT variant, what, CASE
                WHEN what = 'first_violation' THEN CAST(first_violation_us AS DOUBLE)
                WHEN what = 'availability' THEN availability
                WHEN error IS NULL AND events IS NOT NULL THEN coalesce(CAST(recovery_us AS DOUBLE), double('infinity'))
                END AS value
            FROM runs CROSS JOIN (VALUES ('first_violation'), ('availability'), ('recovery')) AS q(what))
        WHERE value IS NOT NULL),
    counted AS (SELECT variant, what, value, count(*) AS runs FROM valued GROUP BY variant, what, value),
    totals AS (
        SELECT variant, what, sum(runs) AS n, sum(CASE WHEN value < double('infinity') THEN runs ELSE 0 END) AS ended,
            sum(CASE WHEN value < double('infinity')
                THEN CAST(runs AS DECIMAL(10, 0)) * CAST(value AS DECIMAL(26, 12)) END) AS total
        FROM counted GROUP BY variant, what),
    ranked AS (
        SELECT variant, what, value,
            sum(runs) OVER (PARTITION BY variant, what ORDER BY value ROWS UNBOUNDED PRECEDING) AS upto FROM counted)
    SELECT r.variant, r.what, first(t.n) AS n, first(t.ended) AS ended, first(t.total) AS total, {percentiles}
    FROM ranked r JOIN totals t ON r.variant = t.variant AND r.what = t.what GROUP BY r.variant, r.what"""

QUANTILES = _SQL.format(
    percentiles=", ".join(text.format(percent=n) for text in (_LOWER, _UPPER, _REACHED) for n in PERCENTS)
)
"""What `Quantiles` is made from, of the view `runs`. Of what never ends the value is infinite, so that it is slower than all that
does; of an imported history without a trace (no `events`) nobody knows, and there is none.
Totals are of decimals, so that the order in which they are added up changes nothing."""


class Quantiles:
    """The percentiles of all variants, from the rows that answer `QUANTILES`."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], Row] = {(row["variant"], row["what"]): row for row in rows}

    def spread(self, variant: str, what: str) -> Spread:
        """Of `first_violation` or `availability`; between two runs' values it is interpolated."""
        row = self._rows.get((variant, what))
        if row is None:
            return Spread(0, None, None, None, None, None, None)
        values = []
        for percent in PERCENTS:
            low, high = row[f"low_{percent}"], row[f"high_{percent}"]
            values.append(low + (high - low) * (percent * (row["n"] - 1) % 100) / 100)
        return Spread(row["n"], float(row["total"] / row["n"]), *values)

    def recovery(self, variant: str, raised: int) -> Recovery:
        """How long runs took to come to rest: a percentile is the first moment by which so many of all runs had.

        A run that never did was given up at the bound for coming to rest, which no run that did exceeds; all that is known is that
        it would have taken longer than every other, so that is how it is ranked (worst rank).

        Args:
            variant: Whose.
            raised: How many runs raised, of which nothing is known.
        """
        row = self._rows.get((variant, "recovery"))
        of, never = (0, 0) if row is None else (row["n"], row["n"] - row["ended"])
        reached = [None if row is None else row[f"reached_{percent}"] for percent in PERCENTS]
        times = [None if time is None or time == float("inf") else int(time) for time in reached]
        return Recovery(Rate(never, of, *wilson(never, of), raised), *times)
