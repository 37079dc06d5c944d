"""Compare the variants of a campaign, from its tables, with Spark.

Every rate is over the *judged* runs of a variant, those that ended valid or invalid, with bounds for the unknown ones beside it.
Paired numbers are over the plans on which both the variant and the baseline were judged. A campaign that is still incomplete can
be compared: a chunk counts once its `runs` file is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.contract import MAJORITY, PROMISES, WITHOUT_ISR
from checkers.marks import by_mark
from checkers.verdict import BY_PROMISES, NEAR_MISS
from harness.report.model import ANY, AnomalyCount, Comparison, Paired, Rate, Recovery, Spread, VariantResult
from nodes.core.cluster import ClusterSpec
from pipeline.manifest import Manifest
from pipeline.replay_command import replay_command
from pipeline.statistics import holm, mcnemar, paired_difference, share_hit, time_reached, wilson
from pipeline.tables import ANOMALIES, RUNS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.types import StructType

MOST_PLANS = 40
"""So many plans are named for each anomaly of a variant."""

TOTALS = """
    SELECT variant,
        count(*) AS runs, count_if(valid != 'unknown') AS judged, count_if(valid = 'unknown') AS unknown,
        count_if(error IS NOT NULL) AS errors, collect_set(contract) AS contracts,
        count_if(valid != 'unknown' AND acked_lost_violation > 0) AS loss,
        count_if(valid != 'unknown' AND acked_lost_permitted > 0) AS permitted_loss,
        count_if(valid != 'unknown' AND acked_lost_violation + acked_lost_permitted > 0) AS any_loss,
        max(virtual_us) AS watched_us,
        {sums}, {spreads}
    FROM runs GROUP BY variant"""

SUMMED = (
    "acked",
    "acked_lost_violation",
    "acked_lost_permitted",
    "elections",
    "unclean_elections",
    "truncations",
    "records_truncated",
    "epoch_round_trips",
)
SPREAD = {"first_violation": "first_violation_us", "availability": "availability"}

HITS = """
    SELECT DISTINCT a.variant, a.name, a.verdict, a.plan
    FROM anomalies a JOIN runs r ON a.variant = r.variant AND a.plan = r.plan WHERE r.valid != 'unknown'
    UNION ALL
    SELECT variant, :any, 'violation', plan FROM runs WHERE valid != 'unknown' AND violations > 0
    UNION ALL
    SELECT variant, :any, 'permitted', plan FROM runs WHERE valid != 'unknown' AND permitted > 0"""

COUNTS = "SELECT variant, name, verdict, count(*) AS hits FROM hits GROUP BY variant, name, verdict"

BROKEN = """
    SELECT a.variant, promise, count(DISTINCT a.plan) AS hits
    FROM (SELECT variant, plan, explode(breaks) AS promise FROM anomalies
        WHERE name = 'lost-committed-write' AND get_json_object(evidence, '$.ack_time') IS NOT NULL) a
    JOIN runs r ON a.variant = r.variant AND a.plan = r.plan
    WHERE r.valid != 'unknown' GROUP BY a.variant, promise"""

PAIRS = """
    SELECT here.variant, here.plan FROM runs here JOIN runs base ON here.plan = base.plan
    WHERE base.variant = :baseline AND here.variant != :baseline AND here.valid != 'unknown' AND base.valid != 'unknown'"""

DISCORDANT = """
    WITH v AS (SELECT * FROM hits WHERE verdict = 'violation'),
    here AS (SELECT p.variant, p.plan, v.name FROM pairs p JOIN v ON p.variant = v.variant AND p.plan = v.plan),
    base AS (SELECT p.variant, p.plan, v.name FROM pairs p JOIN v ON v.variant = :baseline AND p.plan = v.plan)
    SELECT coalesce(here.variant, base.variant) AS variant, coalesce(here.name, base.name) AS name,
        count_if(base.plan IS NULL) AS only_here, count_if(here.plan IS NULL) AS only_baseline
    FROM here FULL OUTER JOIN base
        ON here.variant = base.variant AND here.plan = base.plan AND here.name = base.name
    GROUP BY 1, 2"""

PERMITTED_BY = """
    SELECT a.variant, a.clause, count(DISTINCT a.plan) AS hits FROM anomalies a
    JOIN runs r ON a.variant = r.variant AND a.plan = r.plan
    WHERE a.name = 'lost-committed-write' AND a.verdict = 'permitted' AND r.valid != 'unknown'
        AND get_json_object(a.evidence, '$.ack_time') IS NOT NULL
    GROUP BY a.variant, a.clause"""

FIRST_PLANS = """
    SELECT variant, name, collect_list(plan) AS plans FROM (
        SELECT variant, name, plan, row_number() OVER (PARTITION BY variant, name ORDER BY plan) AS place
        FROM hits WHERE verdict = 'violation')
    WHERE place <= :most GROUP BY variant, name"""

MARKED = """
    SELECT variant, mark, count(*) AS runs FROM (SELECT variant, explode(marks) AS mark FROM runs) GROUP BY variant, mark"""

LOOKED_AT = "SELECT variant, count(marks) AS runs FROM runs GROUP BY variant"

FIRST = """
    SELECT variant, first_violation_us AS time FROM runs
    WHERE valid != 'unknown' AND violations > 0 AND first_violation_us IS NOT NULL"""

RECOVERIES = (
    "SELECT variant, recovery_us AS time, count(*) AS runs FROM runs WHERE error IS NULL GROUP BY variant, recovery_us"
)


class NothingToCompareError(ValueError):
    """The folder holds no campaign, or not the baseline asked for; the text is one sentence."""


def compare(spark: SparkSession, folder: Path, baseline: str | None = None) -> Comparison:
    """Compare all variants of the campaign in `folder` with `baseline`, the first variant unless told.

    Raises:
        NothingToCompareError: See there.
    """
    as_asked, folder = folder, folder.resolve()
    manifest = Manifest.read(folder)
    if manifest is None:
        raise NothingToCompareError(f"{folder} holds no campaign.")
    spec = manifest.spec
    baseline = baseline or spec.variants[0]
    if baseline not in spec.variants:
        raise NothingToCompareError(f"{baseline} is none of the campaign's variants: {', '.join(spec.variants)}.")
    register_tables(spark, folder)
    spark.sql(HITS, args={"any": ANY}).cache().createOrReplaceTempView("hits")
    spark.sql(PAIRS, args={"baseline": baseline}).createOrReplaceTempView("pairs")
    try:
        found = _Found(spark, spec.variants, baseline)
        variants = tuple(
            replace(found.variant(name), replay=replay_command(spec, as_asked, name, None))
            for name in spec.variants
            if name in found.totals
        )
    finally:
        spark.catalog.uncacheTable("hits")
    if not variants:
        raise NothingToCompareError(f"The campaign in {folder} has no finished chunk yet.")
    return Comparison(
        campaign=spec.name,
        profile=spec.profile,
        seed=spec.seed,
        plans=spec.plans,
        cluster=ClusterSpec.from_json(dict(spec.cluster)).to_json(),
        baseline=baseline,
        variants=variants,
        watched_us=max((row["watched_us"] or 0 for row in found.totals.values()), default=0),
        world=spec.world,
        system=spec.system,
        primary=found.primary,
        contract=spec.contract,
        code=manifest.code,
        begun=manifest.begun,
    )


def register_tables(spark: SparkSession, folder: Path) -> None:
    """Make the campaign's `runs` and `anomalies` known to Spark SQL under these names.

    Raises:
        NothingToCompareError: No chunk is finished yet.
    """
    for name, schema in (("runs", RUNS), ("anomalies", ANOMALIES)):
        if not (folder / name).is_dir():
            raise NothingToCompareError(f"The campaign in {folder} has no finished chunk yet.")
        table = spark.read.schema(_spark_schema(schema)).parquet(str(folder / name))
        table.createOrReplaceTempView(name)


class _Found:
    """The answers of all queries, by variant."""

    def __init__(self, spark: SparkSession, variants: tuple[str, ...], baseline: str) -> None:
        sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in SUMMED)
        spreads = ", ".join(_spread_sql(name, column) for name, column in SPREAD.items())
        self.baseline = baseline
        self.totals: dict[str, Row] = {
            row["variant"]: row for row in spark.sql(TOTALS.format(sums=sums, spreads=spreads)).collect()
        }
        self.hits: dict[tuple[str, str, str], int] = {
            (row["variant"], row["name"], row["verdict"]): row["hits"] for row in spark.sql(COUNTS).collect()
        }
        self.names = sorted({name for _, name, kind in self.hits if kind in BY_PROMISES} - {ANY})
        self.near = sorted({name for _, name, kind in self.hits if kind == NEAR_MISS})
        self.broken = {(row["variant"], row["promise"]): row["hits"] for row in spark.sql(BROKEN).collect()}
        pairs = spark.sql("SELECT variant, count(*) AS pairs FROM pairs GROUP BY variant").collect()
        self.pairs = {row["variant"]: row["pairs"] for row in pairs}
        self.discordant = {
            (row["variant"], row["name"]): (row["only_here"], row["only_baseline"])
            for row in spark.sql(DISCORDANT, args={"baseline": baseline}).collect()
        }
        self.permitted_by: dict[str, dict[str, int]] = defaultdict(dict)
        for row in spark.sql(PERMITTED_BY).collect():
            self.permitted_by[row["variant"]][row["clause"]] = row["hits"]
        self.plans = {
            (row["variant"], row["name"]): tuple(sorted(row["plans"]))
            for row in spark.sql(FIRST_PLANS, args={"most": MOST_PLANS}).collect()
        }
        self.primary = primary_variant(variants, baseline, self.totals)
        self.paired = self._all_paired([name for name in variants if name in self.totals and name != baseline])
        self.first: dict[str, list[int]] = defaultdict(list)
        for row in spark.sql(FIRST).collect():
            self.first[row["variant"]].append(row["time"])
        self.marked: dict[str, dict[str, int]] = defaultdict(dict)
        for row in spark.sql(MARKED).collect():
            self.marked[row["variant"]][row["mark"]] = row["runs"]
        self.looked_at = {row["variant"]: row["runs"] for row in spark.sql(LOOKED_AT).collect()}
        self.recoveries: dict[str, dict[int | None, int]] = defaultdict(dict)
        for row in spark.sql(RECOVERIES).collect():
            self.recoveries[row["variant"]][row["time"]] = row["runs"]

    def variant(self, name: str) -> VariantResult:
        """Everything about one variant."""
        row = self.totals[name]
        judged, unknown = row["judged"], row["unknown"]
        return VariantResult(
            variant=name,
            runs=row["runs"],
            judged=judged,
            unknown=unknown,
            errors=row["errors"],
            contracts=tuple(sorted(row["contracts"])),
            loss=_rate(row["loss"], judged, unknown),
            permitted_loss=_rate(row["permitted_loss"], judged, unknown),
            any_loss=_rate(row["any_loss"], judged, unknown),
            promises={
                promise: _rate(self.broken.get((name, promise), 0), judged, unknown)
                for promise in (WITHOUT_ISR if MAJORITY in row["contracts"] else PROMISES)
            },
            anomalies=tuple(self._anomaly(name, anomaly, judged, unknown) for anomaly in (ANY, *self.names)),
            near_misses={near: _rate(self.hits.get((name, near, NEAR_MISS), 0), judged, unknown) for near in self.near},
            hit_curve=share_hit(self.first[name], judged),
            first_violation=_spread(row, "first_violation"),
            availability=_spread(row, "availability"),
            recovery=_recovery(self.recoveries[name], row["errors"]),
            exercised=by_mark(self.marked[name]) if self.looked_at[name] else {},
            permitted_by=self.permitted_by[name],
            **{column: row[column] for column in SUMMED},
        )

    def _all_paired(self, variants: Sequence[str]) -> dict[tuple[str, str], Paired]:
        """Every comparison with the baseline, by variant and anomaly. All that are shown count for the correction, those too in
        which nothing differs.
        """
        tests = [(variant, name) for variant in variants for name in (ANY, *self.names)]
        p_values = {test: mcnemar(*self.discordant.get(test, (0, 0))) for test in tests}
        others = [test for test in tests if test != (self.primary, ANY)]
        adjusted = p_values | dict(zip(others, holm([p_values[test] for test in others]), strict=True))
        found = {}
        for test in tests:
            pairs, (here, base) = self.pairs.get(test[0], 0), self.discordant.get(test, (0, 0))
            low, high = paired_difference(here, base, pairs)
            primary = test not in others
            found[test] = Paired(self.baseline, pairs, here, base, p_values[test], adjusted[test], low, high, primary)
        return found

    def _anomaly(self, variant: str, name: str, judged: int, unknown: int) -> AnomalyCount:
        violations, permitted = (self.hits.get((variant, name, kind), 0) for kind in BY_PROMISES)
        return AnomalyCount(
            name,
            _rate(violations, judged, unknown),
            _rate(permitted, judged, unknown),
            self.paired.get((variant, name)),
            self.plans.get((variant, name), ()),
        )


def primary_variant(variants: Sequence[str], baseline: str, done: Container[str]) -> str | None:
    """The variant whose violations, of any kind, against the baseline's are the one comparison that needs no correction: the
    campaign's last, as long as the baseline is its first. Both stand in the spec, and so were settled before anything ran; another
    baseline may have been chosen by its result, and then there is none. Nor is there one before the last variant has results.
    """
    last = variants[-1]
    return last if baseline == variants[0] and last != baseline and last in done else None


def _rate(hits: int, runs: int, unknown: int) -> Rate:
    return Rate(hits, runs, *wilson(hits, runs), unknown)


def _spread_sql(name: str, column: str) -> str:
    return (
        f"count({column}) AS {name}_runs, avg({column}) AS {name}_mean, "
        f"percentile({column}, array(0.05, 0.25, 0.5, 0.75, 0.95)) AS {name}_quantiles"
    )


def _spread(row: Row, name: str) -> Spread:
    quantiles: list[float] | list[None] = row[f"{name}_quantiles"] or [None] * 5
    return Spread(row[f"{name}_runs"], row[f"{name}_mean"], *quantiles)


def _recovery(runs_by_time: Mapping[int | None, int], raised: int) -> Recovery:
    """`runs_by_time`: recovery time, µs, → runs; None for the runs that never came to rest."""
    times = {time: runs for time, runs in runs_by_time.items() if time is not None}
    never = runs_by_time.get(None, 0)
    percentiles = (time_reached(times, never, percent) for percent in (5, 25, 50, 75, 95))
    return Recovery(_rate(never, sum(times.values()) + never, raised), *percentiles)


def _spark_schema(schema: pa.Schema) -> StructType:
    """Spark's words for the columns in the files, with the partition columns behind them."""
    from pyspark.sql.pandas.types import from_arrow_schema  # pulls in pandas
    from pyspark.sql.types import StringType

    return from_arrow_schema(schema).add("campaign", StringType()).add("variant", StringType())
