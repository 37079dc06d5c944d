"""Compare the variants of a campaign, from its tables, with Spark.

Every rate is over the *judged* runs of a variant, those that ended valid or invalid, with bounds for the unknown ones beside it.
Paired numbers are over the plans on which both the variant and the baseline were judged. A campaign that is still incomplete can
be compared: a chunk counts once it is finished. Spark counts; what comes to the driver grows with variants and kinds of anomalies,
and never with runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.checkers.marks import by_mark
from tidemark.checkers.replicas.contract import ACK_QUORUM, MAJORITY, PROMISES, WITH_LEDGERS, WITHOUT_ISR
from tidemark.checkers.verdict.verdict import BY_PROMISES, NEAR_MISS
from tidemark.harness.report.model import ANY, LOST, AnomalyCount, Comparison, Paired, Rate, VariantResult, Worse
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant
from tidemark.pipeline.compare.quantiles import QUANTILES, Quantiles
from tidemark.pipeline.compare.statistics import holm, mcnemar, paired_difference, share_hit, wilson
from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.small_session import SmallSession
from tidemark.pipeline.engines.spark_tables import FEW_RUNS, campaign_tables, quick_where_few
from tidemark.pipeline.folder.found_campaign import NothingToCompareError, campaign_in
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Question: TypeAlias = tuple[str, Mapping[str, Any]]
"""SQL and its parameters."""
AT_ONCE = 4
"""Questions about few runs: most of what an answer takes is one thread's planning. Of many runs one question takes all cores."""
MOST_PLANS = 40
"""So many plans are named for each anomaly of a variant."""

TOTALS = """
    SELECT variant,
        count(*) AS runs, count_if(valid != 'unknown') AS judged, count_if(valid = 'unknown') AS unknown,
        count_if(error IS NOT NULL) AS errors, collect_set(contract) AS contracts,
        count_if(valid != 'unknown' AND acked_lost_violation > 0) AS loss,
        count_if(valid != 'unknown' AND acked_lost_permitted > 0) AS permitted_loss,
        count_if(valid != 'unknown' AND acked_lost_violation + acked_lost_permitted > 0) AS any_loss,
        max(virtual_us) AS watched_us, count(marks) AS looked_at,
        count_if(valid != 'unknown' AND violations > 0 AND first_violation_us IS NOT NULL) AS timed,
        max(first_violation_us) AS last_us,
        {sums}
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
    "one_round",
    "two_rounds",
    "more_rounds",
    "hw_checkpoints",
)
MOST_STEPS = 1000
"""A curve of more hits is drawn in so many steps; each is where all hits up to it are counted."""

HITS = """
    SELECT DISTINCT a.variant, a.name, a.verdict, a.plan FROM anomalies a
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    UNION ALL
    SELECT variant, :any, 'violation', plan FROM runs WHERE valid != 'unknown' AND violations > 0
    UNION ALL
    SELECT variant, :any, 'permitted', plan FROM runs WHERE valid != 'unknown' AND permitted > 0
    UNION ALL
    SELECT variant, :lost, 'violation', plan FROM runs WHERE valid != 'unknown' AND acked_lost_violation > 0
    UNION ALL
    SELECT variant, :lost, 'permitted', plan FROM runs WHERE valid != 'unknown' AND acked_lost_permitted > 0"""

DERIVED = {"any": ANY, "lost": LOST}
"""The parameters of `HITS`: the names of what is counted beside anomalies."""

COUNTS = "SELECT variant, name, verdict, count(*) AS hits FROM hits GROUP BY variant, name, verdict"

BROKEN = """
    SELECT a.variant, promise, count(DISTINCT a.plan) AS hits
    FROM (SELECT variant, plan, explode(breaks) AS promise FROM anomalies
        WHERE name = 'lost-committed-write' AND get_json_object(evidence, '$.ack_time') IS NOT NULL{or_lost}) a
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    GROUP BY a.variant, promise"""
SEEN_BY_CLIENTS = " OR name = 'lost-write'"
"""Of histories without a trace nothing else tells of losses."""

PAIRS = """
    SELECT here.variant, here.plan FROM runs here
    JOIN runs base ON here.plan = base.plan AND here.plan_digest <=> base.plan_digest
    WHERE base.variant = :baseline AND here.variant != :baseline AND here.valid != 'unknown' AND base.valid != 'unknown'"""

COUNT_PAIRS = "SELECT variant, count(*) AS pairs FROM pairs GROUP BY variant"

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
    LEFT ANTI JOIN (SELECT variant, plan FROM runs WHERE valid = 'unknown') u ON a.variant = u.variant AND a.plan = u.plan
    WHERE a.name = 'lost-committed-write' AND a.verdict = 'permitted'
        AND get_json_object(a.evidence, '$.ack_time') IS NOT NULL
    GROUP BY a.variant, a.clause"""

FIRST_PLANS = """
    SELECT variant, name, collect_list(plan) AS plans FROM (
        SELECT variant, name, plan, row_number() OVER (PARTITION BY variant, name ORDER BY plan) AS place
        FROM hits WHERE verdict = 'violation')
    WHERE place <= :most GROUP BY variant, name"""

BETWEEN = """
    SELECT count(*) AS pairs, count_if(newer.hit AND NOT older.hit) AS only_newer,
        count_if(older.hit AND NOT newer.hit) AS only_older
    FROM (SELECT plan, plan_digest, {hit} AS hit FROM runs WHERE variant = :newer AND valid != 'unknown') newer
    JOIN (SELECT plan, plan_digest, {hit} AS hit FROM runs WHERE variant = :older AND valid != 'unknown') older
        ON newer.plan = older.plan AND newer.plan_digest <=> older.plan_digest"""
HIT = {LOST: "acked_lost_violation > 0", ANY: "violations > 0"}
"""What is looked at between two variants → whether a run is hit."""

MARKED = """
    SELECT variant, mark, count(*) AS runs FROM (SELECT variant, explode(marks) AS mark FROM runs) GROUP BY variant, mark"""

FIRST = """
    SELECT variant, CAST(ceil(first_violation_us / {width}) * {width} AS BIGINT) AS time, count(*) AS runs FROM runs
    WHERE valid != 'unknown' AND violations > 0 AND first_violation_us IS NOT NULL GROUP BY 1, 2"""


class UnreadableError(RuntimeError):
    """Spark gave up on the tables; the text is one sentence."""


def compare(spark: SparkSession | SmallSession, folder: Path, baseline: str | None = None) -> Comparison:
    """Compare all variants of the campaign in `folder` with `baseline`, the first variant unless told.

    Raises:
        NothingToCompareError: See there.
        DamagedTableError: A file is not what the campaign wrote.
        UnreadableError: Spark could not read the tables.
    """
    as_asked, folder = folder, folder.resolve()
    manifest = campaign_in(folder)
    spec = manifest.spec
    baseline = baseline or spec.variants[0]
    if baseline not in spec.variants:
        raise NothingToCompareError(f"{baseline} is none of the campaign's variants: {', '.join(spec.variants)}.")
    register_tables(spark, folder)
    most = spec.plans * len(spec.variants)
    imported = spec.world == IMPORTED
    settled = () if imported else manifest.first_variants
    found = found_in_tables(spark, spec.variants, baseline, settled, most, imported=imported)
    variants = tuple(
        replace(found.variant(name), replay=replay_command(spec, as_asked, name, None))
        for name in spec.variants
        if name in found.totals
    )
    if imported:  # no two histories are of the same plan
        variants = tuple(map(_unpaired, variants))
    return Comparison(
        campaign=spec.name,
        profile=spec.profile,
        seed=spec.seed,
        plans=spec.plans,
        cluster={} if imported else ClusterSpec.from_json(dict(spec.cluster)).to_json(),
        baseline=baseline,
        variants=variants,
        watched_us=found.watched_us,
        world=spec.world,
        system=spec.system,
        primary=found.primary,
        contract=spec.contract,
        workload=spec.workload,
        code=manifest.code,
        begun=manifest.begun,
        worse=found.worse,
    )


def _unpaired(variant: VariantResult) -> VariantResult:
    return replace(variant, anomalies=tuple(replace(anomaly, paired=None) for anomaly in variant.anomalies))


def register_tables(spark: SparkSession | SmallSession, folder: Path) -> None:
    """Make the campaign's `runs` and `anomalies` known to Spark SQL under these names.

    Raises:
        NothingToCompareError: No chunk is finished yet.
        DamagedTableError: A file is not what the campaign wrote.
    """
    names = ("runs", "anomalies")
    if isinstance(spark, SmallSession):
        spark.load(folder, names)
    else:
        for name, table in campaign_tables(spark, folder, names).items():
            table.createOrReplaceTempView(name)


def found_in_tables(
    spark: SparkSession | SmallSession,
    variants: tuple[str, ...],
    baseline: str,
    first_variants: tuple[str, ...],
    most: int,
    *,
    imported: bool = False,
) -> Found:
    """Ask everything of the views `runs` and `anomalies`.

    Args:
        spark: The session that has the views.
        variants: Of the runs, in order.
        baseline: What the others are compared with.
        first_variants: Those that were settled before anything ran.
        most: The views have no more runs.
        imported: Some are histories of others, perhaps without traces.

    Raises:
        UnreadableError: Spark could not.
    """
    try:
        with quick_where_few(spark, most):
            spark.sql(HITS, args=DERIVED).cache().createOrReplaceTempView("hits")
            spark.sql(PAIRS, args={"baseline": baseline}).createOrReplaceTempView("pairs")
            try:
                at_once = AT_ONCE if most <= FEW_RUNS else 1
                found = Found(spark, variants, baseline, first_variants, at_once, imported=imported)
                found.worse = _worse(spark, [found.variant(name) for name in variants if name in found.totals])
                return found
            finally:
                if not isinstance(spark, SmallSession):
                    spark.catalog.uncacheTable("hits")
    except _errors_of(spark) as error:
        raise UnreadableError(f"The campaign's tables could not be read: {reason(error)}.") from error


def _errors_of(spark: SparkSession | SmallSession) -> tuple[type[Exception], ...]:
    """What it raises where it cannot answer."""
    if isinstance(spark, SmallSession):
        return spark.errors
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


class Found:
    """The answers of all queries, by variant."""

    def __init__(
        self,
        spark: SparkSession | SmallSession,
        variants: tuple[str, ...],
        baseline: str,
        first_variants: tuple[str, ...],
        at_once: int,
        *,
        imported: bool = False,
    ) -> None:
        sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in SUMMED)
        self.baseline = baseline
        rows = _answers(
            spark,
            {
                "totals": (TOTALS.format(sums=sums), {}),
                "counts": (COUNTS, {}),
                "discordant": (DISCORDANT, {"baseline": baseline}),
                "quantiles": (QUANTILES, {}),
                "broken": (BROKEN.format(or_lost=SEEN_BY_CLIENTS if imported else ""), {}),
                "pairs": (COUNT_PAIRS, {}),
                "permitted by": (PERMITTED_BY, {}),
                "first plans": (FIRST_PLANS, {"most": MOST_PLANS}),
                "marked": (MARKED, {}),
            },
            at_once,
        )
        self.totals: dict[str, Any] = {row["variant"]: row for row in rows["totals"]}
        self.hits: dict[tuple[str, str, str], int] = {
            (row["variant"], row["name"], row["verdict"]): row["hits"] for row in rows["counts"]
        }
        names = {name for _, name, kind in self.hits if kind in BY_PROMISES}
        self.names = [*({LOST} & names), *sorted(names - {ANY, LOST})]
        self.near = sorted({name for _, name, kind in self.hits if kind == NEAR_MISS})
        self.broken = {(row["variant"], row["promise"]): row["hits"] for row in rows["broken"]}
        self.pairs = {row["variant"]: row["pairs"] for row in rows["pairs"]}
        self.discordant = {
            (row["variant"], row["name"]): (row["only_here"], row["only_baseline"]) for row in rows["discordant"]
        }
        self.permitted_by: dict[str, dict[str, int]] = defaultdict(dict)
        for row in sorted(rows["permitted by"], key=lambda row: (row["variant"], -row["hits"], row["clause"])):
            self.permitted_by[row["variant"]][row["clause"]] = row["hits"]
        self.plans = {(row["variant"], row["name"]): tuple(sorted(row["plans"])) for row in rows["first plans"]}
        self.primary = primary_variant(first_variants, baseline, self.totals)
        self.paired = self._all_paired([name for name in variants if name in self.totals and name != baseline])
        self.first: dict[str, dict[int, int]] = defaultdict(dict)
        for row in spark.sql(FIRST.format(width=self._step_us())).collect():
            self.first[row["variant"]][row["time"]] = row["runs"]
        self.marked: dict[str, dict[str, int]] = defaultdict(dict)
        for row in rows["marked"]:
            self.marked[row["variant"]][row["mark"]] = row["runs"]
        self.quantiles = Quantiles(rows["quantiles"])
        self.worse: tuple[Worse, ...] = ()

    @property
    def watched_us(self) -> int:
        """The longest run."""
        return max((row["watched_us"] or 0 for row in self.totals.values()), default=0)

    def _step_us(self) -> int:
        """How far the steps of the curves of first violations are apart; 1 where each hit may have its own."""
        if max(row["timed"] for row in self.totals.values()) <= MOST_STEPS:
            return 1
        return max(1, -(-max(row["last_us"] or 0 for row in self.totals.values()) // MOST_STEPS))

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
                for promise in _promises(row["contracts"])
            },
            anomalies=tuple(self._anomaly(name, anomaly, judged, unknown) for anomaly in (ANY, *self.names)),
            near_misses={near: _rate(self.hits.get((name, near, NEAR_MISS), 0), judged, unknown) for near in self.near},
            hit_curve=share_hit(self.first[name], judged),
            first_violation=self.quantiles.spread(name, "first_violation"),
            availability=self.quantiles.spread(name, "availability"),
            recovery=self.quantiles.recovery(name, row["errors"]),
            exercised=by_mark(self.marked[name], _marks_of(name)) if row["looked_at"] else {},
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


def _worse(spark: SparkSession | SmallSession, variants: Sequence[VariantResult]) -> tuple[Worse, ...]:
    """Each variant that did worse than the one before it: in losses, or else in violations of any kind."""
    found = []
    for older, newer in pairwise(variants):
        shares = {LOST: (older.loss.share, newer.loss.share), ANY: (older.violating.share, newer.violating.share)}
        name = next((name for name, (before, now) in shares.items() if now > before), None)
        if name is not None:
            args = {"older": older.variant, "newer": newer.variant}
            (row,) = spark.sql(BETWEEN.format(hit=HIT[name]), args=args).collect()
            p_value = mcnemar(row["only_newer"], row["only_older"])
            found.append(
                Worse(older.variant, newer.variant, name, row["pairs"], row["only_newer"], row["only_older"], p_value)
            )
    return tuple(found)


def _answers(
    spark: SparkSession | SmallSession, questions: Mapping[str, Question], at_once: int
) -> dict[str, list[Any]]:
    """The rows that answer each question, so many of them at a time."""

    def answer(question: Question) -> list[Any]:
        found: list[Any] = spark.sql(question[0], args=dict(question[1])).collect()
        return found

    with ThreadPoolExecutor(at_once, thread_name_prefix="ask") as threads:
        return dict(zip(questions, threads.map(answer, questions.values()), strict=True))


def primary_variant(variants: Sequence[str], baseline: str, done: Container[str]) -> str | None:
    """The variant whose violations, of any kind, against the baseline's are the one comparison that needs no correction: the
    campaign's last, as long as the baseline is its first. Both stand in the spec, and so were settled before anything ran; another
    baseline may have been chosen by its result, and then there is none. Nor is there one before the last variant has results, or
    where nothing was settled.
    """
    if not variants:
        return None
    last = variants[-1]
    return last if baseline == variants[0] and last != baseline and last in done else None


def _marks_of(variant: str) -> Collection[str] | None:
    """The marks that a variant's runs can come to; None: all, as far as anybody knows."""
    try:
        return family_of(parse_variant(variant)).marks
    except VariantError:
        return None  # another system's


def _promises(contracts: Collection[str]) -> tuple[str, ...]:
    """The promises that count for a variant, by those that its runs were judged by."""
    return WITH_LEDGERS if ACK_QUORUM in contracts else WITHOUT_ISR if MAJORITY in contracts else PROMISES


def _rate(hits: int, runs: int, unknown: int) -> Rate:
    return Rate(hits, runs, *wilson(hits, runs), unknown)
