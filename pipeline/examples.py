"""Choose, for each variant that violated something, the run that is simplest to explain, and run it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.report.model import Example
from pipeline.campaign import simulator
from pipeline.compare import NothingToCompareError, register_tables
from pipeline.evidence import stored_runs
from pipeline.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.simulate import Simulate

EASIEST_TO_EXPLAIN = ("lost-committed-write", "log-matching", "divergence")
"""Anomalies in the order in which a picture of them is preferred; the rest follow by name."""

SIMPLEST = """
    SELECT variant, plan, digest FROM (
        SELECT r.variant, r.plan, r.digest, row_number() OVER (
            PARTITION BY r.variant ORDER BY {rank}, r.faults, a.time_us, a.name, r.plan) AS place
        FROM runs r JOIN anomalies a ON r.variant = a.variant AND r.plan = a.plan
        WHERE a.verdict = 'violation' AND r.error IS NULL)
    WHERE place = 1"""


class RunChangedError(RuntimeError):
    """A run that was repeated gave another history than the campaign stored; the text is one sentence."""


def choose_examples(spark: SparkSession, folder: Path, simulate: Simulate | None = None) -> tuple[Example, ...]:
    """One run for each variant with a violation, in the campaign's order of variants.

    Preferred are the anomalies of `EASIEST_TO_EXPLAIN`, then few faults in the plan, then an early violation. The runs are
    simulated again, so it does not matter whether the campaign kept their histories; runs in containers are all kept.

    Raises:
        NothingToCompareError: The folder holds no campaign.
        RunChangedError: The code is no longer the one that ran the campaign, or a run depends on more than its plan.
    """
    folder = folder.resolve()
    manifest = Manifest.read(folder)
    if manifest is None:
        raise NothingToCompareError(f"{folder} holds no campaign.")
    simulate = simulate or (simulator() if manifest.spec.world == "sim" else stored_runs(folder))
    register_tables(spark, folder)
    cases = " ".join(f"WHEN '{name}' THEN {rank}" for rank, name in enumerate(EASIEST_TO_EXPLAIN))
    rank = f"CASE a.name {cases} ELSE {len(EASIEST_TO_EXPLAIN)} END"
    chosen = {row["variant"]: row for row in spark.sql(SIMPLEST.format(rank=rank)).collect()}
    examples = []
    for variant in manifest.spec.variants:
        if variant not in chosen:
            continue
        row = chosen[variant]
        plan, result = simulate(manifest.spec, variant, row["plan"])
        if result.digest != row["digest"]:
            raise RunChangedError(
                f"Plan {row['plan']} under {variant} no longer gives the run that the campaign stored."
            )
        examples.append(Example(variant, row["plan"], plan.to_json(), result.history, result.verdict))
    return tuple(examples)
