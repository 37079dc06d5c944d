"""What a sweep's folder says: the variants compared in each of its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.harness.report.comparison import Paired, Rate
from tidemark.harness.report.sweep import Sweep, SweptCell, SweptVariant
from tidemark.pipeline.compare.statistics import holm, mcnemar, paired_difference, wilson
from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.folder.found_campaign import NothingToCompareError, campaign_in
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.sweep import places

_RUNS = "SELECT variant, plan, valid, violations, acked_lost_violation, error IS NOT NULL AS raised FROM runs"


@dataclass(frozen=True, slots=True)
class _Run:
    """Of one plan under one variant; `violated` is None where nobody could judge."""

    violated: bool | None
    lost: bool
    raised: bool


def sweep_in(folder: Path, baseline: str | None = None) -> Sweep:
    """Compare the variants in each cell, with `baseline`, the first variant unless told.

    All p-values, of all cells, are corrected together (Holm).

    Raises:
        NothingToCompareError: The folder holds no sweep, or no run of it yet, or the baseline is none of its variants.
        DamagedTableError: A file is not what the campaign wrote.
    """
    spec = campaign_in(folder).spec
    if not spec.cells:
        raise NothingToCompareError(
            f"{folder} holds a campaign that is no sweep; tidemark report {folder} tells of it."
        )
    baseline = baseline or spec.variants[0]
    if baseline not in spec.variants:
        raise NothingToCompareError(f"{baseline} is none of the sweep's variants: {', '.join(spec.variants)}.")
    runs = _runs(folder.resolve(), spec)
    where = places(spec.seed, spec.cells, spec.plans)
    axes: dict[str, tuple[str, ...]] = {}
    for cell in spec.cells:
        for name, value in cell.at:
            axes[name] = (*(had := axes.get(name, ())), *[value] * (value not in had))
    cells = [
        _compared(dict(cell.at), mine, runs, baseline) for cell, mine in zip(spec.cells, where.in_cell, strict=True)
    ]
    return Sweep(
        name=spec.name,
        axes=axes,
        baseline=baseline,
        cells=_corrected(cells),
        together=_compared({}, range(spec.plans), runs, None),
        plans=len(where.in_cell[0]),
        different=spec.plans,
        seed=spec.seed,
    )


def _runs(folder: Path, spec: CampaignSpec) -> dict[str, dict[int, _Run]]:
    """Variant → plan → its run."""
    engine = SmallEngine()  # one question that is quick of a million runs, too
    engine.load(folder, ("runs",))
    found: dict[str, dict[int, _Run]] = {variant: {} for variant in spec.variants}
    for row in engine.rows(_RUNS):
        violated = None if row["valid"] == "unknown" else row["violations"] > 0
        found[row["variant"]][row["plan"]] = _Run(violated, bool(row["acked_lost_violation"]), bool(row["raised"]))
    return found


def _compared(
    at: Mapping[str, str], plans: Iterable[int], runs: Mapping[str, Mapping[int, _Run]], baseline: str | None
) -> SweptCell:
    """The variants over some plans, paired with the baseline if one is told; p-values are not corrected yet."""
    mine = {variant: {plan: of_all[plan] for plan in plans if plan in of_all} for variant, of_all in runs.items()}
    variants = []
    for variant, of_variant in mine.items():
        judged = [run for run in of_variant.values() if run.violated is not None]
        unknown = len(of_variant) - len(judged)
        variants.append(
            SweptVariant(
                variant=variant,
                runs=len(of_variant),
                errors=sum(run.raised for run in of_variant.values()),
                violating=_rate(sum(bool(run.violated) for run in judged), len(judged), unknown),
                loss=_rate(sum(run.lost for run in judged), len(judged), unknown),
                paired=None if baseline in (None, variant) else _paired(of_variant, mine[baseline], baseline),
            )
        )
    return SweptCell(at, tuple(variants))


def _rate(hits: int, runs: int, unknown: int) -> Rate:
    return Rate(hits, runs, *wilson(hits, runs), unknown=unknown)


def _paired(here: Mapping[int, _Run], there: Mapping[int, _Run], baseline: str) -> Paired:
    pairs = [
        (run.violated, there[plan].violated)
        for plan, run in here.items()
        if plan in there and run.violated is not None and there[plan].violated is not None
    ]
    only_here, only_there = pairs.count((True, False)), pairs.count((False, True))
    p_value = mcnemar(only_here, only_there)
    low, high = paired_difference(only_here, only_there, len(pairs))
    return Paired(baseline, len(pairs), only_here, only_there, p_value, p_value, low, high, primary=False)


def _corrected(cells: Sequence[SweptCell]) -> tuple[SweptCell, ...]:
    """With Holm's p-values, over all comparisons of all cells."""
    left = iter(holm([one.paired.p_value for cell in cells for one in cell.variants if one.paired]))

    def corrected(one: SweptVariant) -> SweptVariant:
        return one if one.paired is None else replace(one, paired=replace(one.paired, p_adjusted=next(left)))

    return tuple(replace(cell, variants=tuple(map(corrected, cell.variants))) for cell in cells)
