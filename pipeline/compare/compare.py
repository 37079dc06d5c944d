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
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.checkers.marks import by_mark
from tidemark.checkers.replicas.contract import ACK_QUORUM, MAJORITY, PROMISES, WITH_LEDGERS, WITHOUT_ISR
from tidemark.checkers.verdict.verdict import BY_PROMISES, NEAR_MISS
from tidemark.harness.report.comparison import ANY, LOST, AnomalyCount, Between, Comparison, Paired, Rate, VariantResult
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant
from tidemark.pipeline.compare import questions
from tidemark.pipeline.compare.quantiles import QUANTILES, Quantiles
from tidemark.pipeline.compare.statistics import holm, mcnemar, paired_difference, share_hit, wilson
from tidemark.pipeline.engines.reason import reason
from tidemark.pipeline.engines.spark_tables import QUICK_START_RUNS
from tidemark.pipeline.folder.found_campaign import NothingToCompareError, campaign_in
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from tidemark.pipeline.engines.engine import Engine
    from tidemark.pipeline.folder.manifest import Manifest

Question: TypeAlias = tuple[str, Mapping[str, Any]]
"""SQL and its parameters."""
AT_ONCE = 4
"""Questions about few runs: most of what an answer takes is one thread's planning. Of many runs one question takes all cores."""
MOST_PLANS = 40
"""So many plans are named for each anomaly of a variant."""


class UnreadableError(RefusalError):
    """Spark gave up on the tables; the text is one sentence."""


def compare(engine: Engine, folder: Path, baseline: str | None = None) -> Comparison:
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
    engine.load(folder, ("runs", "anomalies"))
    most = spec.plans * len(spec.variants)
    imported = spec.world == IMPORTED
    settled = () if imported else manifest.first_variants
    found = found_in_tables(engine, spec.variants, baseline, settled, most, imported=imported)
    variants = tuple(
        replace(found.variant(name), replay=replay_command(spec, as_asked, name, None))
        for name in spec.variants
        if name in found.totals
    )
    if imported:  # no two histories are of the same plan
        variants = tuple(map(_unpaired, variants))
    comparison = as_comparison(found, spec.name, manifest, variants)
    return replace(comparison, cluster={}) if imported else comparison


def as_comparison(found: Found, name: str, manifest: Manifest, variants: tuple[VariantResult, ...]) -> Comparison:
    """What was found, as the comparison of that name; its settings are the manifest's."""
    spec = manifest.spec
    return Comparison(
        campaign=name,
        profile=spec.profile,
        seed=spec.seed,
        plans=spec.plans,
        cluster=ClusterSpec.from_json(dict(spec.cluster)).to_json(),
        baseline=found.baseline,
        variants=variants,
        watched_us=found.watched_us,
        world=spec.world,
        system=spec.system,
        primary=found.primary,
        contract=spec.contract,
        workload=spec.workload,
        intensity=spec.intensity,
        code=manifest.code,
        begun=manifest.begun,
        between=found.between,
    )


def _unpaired(variant: VariantResult) -> VariantResult:
    return replace(variant, anomalies=tuple(replace(anomaly, paired=None) for anomaly in variant.anomalies))


def found_in_tables(
    engine: Engine,
    variants: tuple[str, ...],
    baseline: str,
    first_variants: tuple[str, ...],
    most: int,
    *,
    imported: bool = False,
) -> Found:
    """Ask everything of the views `runs` and `anomalies`.

    Args:
        engine: It has the views.
        variants: Of the runs, in order.
        baseline: What the others are compared with.
        first_variants: Those that were settled before anything ran.
        most: The views have no more runs.
        imported: Some are histories of others, which have no plans in common.

    Raises:
        UnreadableError: Spark could not.
    """
    try:
        with engine.about(most), engine.kept("hits", questions.HITS, questions.DERIVED):
            engine.name("pairs", questions.PAIRS, {"baseline": baseline})
            at_once = AT_ONCE if most <= QUICK_START_RUNS else 1
            found = Found(engine, variants, baseline, first_variants, at_once)
            if not imported:  # no two histories are of the same plan
                found.between = _between(engine, [variant for variant in variants if variant in found.totals])
            return found
    except engine.errors as error:
        raise UnreadableError(f"The campaign's tables could not be read: {reason(error)}.") from error


class Found:
    """The answers of all queries, by variant."""

    def __init__(
        self,
        engine: Engine,
        variants: tuple[str, ...],
        baseline: str,
        first_variants: tuple[str, ...],
        at_once: int,
    ) -> None:
        sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in questions.SUMMED)
        self.baseline = baseline
        rows = _answers(
            engine,
            {
                "totals": (questions.TOTALS.format(sums=sums), {}),
                "counts": (questions.COUNTS, {}),
                "discordant": (questions.DISCORDANT, {"baseline": baseline}),
                "quantiles": (QUANTILES, {}),
                "broken": (questions.BROKEN, {}),
                "pairs": (questions.COUNT_PAIRS, {}),
                "permitted by": (questions.PERMITTED_BY, {}),
                "first plans": (questions.FIRST_PLANS, {"most": MOST_PLANS}),
                "marked": (questions.MARKED, {}),
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
        for row in engine.rows(questions.FIRST.format(width=self._step_us())):
            self.first[row["variant"]][row["time"]] = row["runs"]
        self.marked: dict[str, dict[str, int]] = defaultdict(dict)
        for row in rows["marked"]:
            self.marked[row["variant"]][row["mark"]] = row["runs"]
        self.quantiles = Quantiles(rows["quantiles"])
        self.between: tuple[Between, ...] = ()

    @property
    def watched_us(self) -> int:
        """The longest run."""
        return max((row["watched_us"] or 0 for row in self.totals.values()), default=0)

    def _step_us(self) -> int:
        """How far the steps of the curves of first violations are apart; 1 where each hit may have its own."""
        if max(row["timed"] for row in self.totals.values()) <= questions.MOST_STEPS:
            return 1
        return max(1, -(-max(row["last_us"] or 0 for row in self.totals.values()) // questions.MOST_STEPS))

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
            **{column: row[column] for column in questions.SUMMED},
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


def _between(engine: Engine, variants: Sequence[str]) -> tuple[Between, ...]:
    """Each two variants that have plans in common: how many hit one of them alone, of losses and of violations of any kind. What
    stands next to each other is compared by everybody who reads down a table, so these p-values are corrected together, those too
    in which nothing differs.
    """
    found = []
    place = {variant: at for at, variant in enumerate(variants)}
    for row in engine.rows(questions.BETWEEN):
        one, other = sorted((row["one"], row["other"]), key=place.__getitem__)
        turned = one != row["one"]
        for name, *alone in (
            (LOST, row["lost_by_one"], row["lost_by_other"]),
            (ANY, row["hit_one"], row["hit_other"]),
        ):
            only_one, only_other = reversed(alone) if turned else alone
            found.append(Between(one, other, name, row["pairs"], only_one, only_other, mcnemar(only_one, only_other)))
    found.sort(key=lambda two: (place[two.one], place[two.other], two.name != LOST))
    neighbours = [two for two in found if place[two.other] == place[two.one] + 1]
    adjusted = dict(zip(neighbours, holm([two.p_value for two in neighbours]), strict=True))
    return tuple(replace(two, p_adjusted=adjusted.get(two)) for two in found)


def _answers(engine: Engine, asked: Mapping[str, Question], at_once: int) -> dict[str, list[Any]]:
    """The rows that answer each question, so many of them at a time."""
    with ThreadPoolExecutor(at_once, thread_name_prefix="ask") as threads:
        return dict(zip(asked, threads.map(lambda question: engine.rows(*question), asked.values()), strict=True))


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
    """The marks that a variant's runs can come to; None: all with an ISR, as far as anybody knows."""
    try:
        return family_of(parse_variant(variant)).marks
    except VariantError:
        return None  # another system's


def _promises(contracts: Collection[str]) -> tuple[str, ...]:
    """The promises that count for a variant, by those that its runs were judged by."""
    return WITH_LEDGERS if ACK_QUORUM in contracts else WITHOUT_ISR if MAJORITY in contracts else PROMISES


def _rate(hits: int, runs: int, unknown: int) -> Rate:
    return Rate(hits, runs, *wilson(hits, runs), unknown)
