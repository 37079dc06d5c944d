"""Compare the variants of several campaigns with each other, paired where the plans are the same.

Each variant is called `campaign: variant`. Two runs are a pair if the number of their plan is the same and the plan as well,
but for its cluster: so acks 1 can be held against all, today's code against yesterday's. Where the generator drew other plans
there are no pairs, and only the rates stand beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.harness.report.comparison import Comparison
from tidemark.nemesis import AskedWorkload
from tidemark.nemesis.asked_workload import DRAWN
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.compare.compare import as_comparison, found_in_tables
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.engines.spark_tables import campaign_tables
from tidemark.pipeline.folder.campaign_parts import part_of
from tidemark.pipeline.folder.found_campaign import NothingToCompareError, campaign_in
from tidemark.pipeline.folder.replay_command import replay_command
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.pipeline.runs.campaign_spec import CampaignSpec


def compare_campaigns(spark: SparkSession, folders: Sequence[Path], baseline: str | None = None) -> Comparison:
    """Compare all variants of all campaigns with `baseline`, the first variant of the first campaign unless told.

    Nothing of it was settled before both had run, so no comparison is the primary one, and all p-values are corrected together.
    The comparison's spec (profile, seed, plans, cluster) is the first campaign's; `differences` tells what is another's.

    Raises:
        NothingToCompareError: A folder holds no campaign with finished chunks, or one that does not know its plans.
        DamagedTableError: A file is not what its campaign wrote.
        UnreadableError: Spark could not read the tables.
    """
    manifests = [campaign_in(folder) for folder in folders]
    for folder, manifest in zip(folders, manifests, strict=True):
        if manifest.format == 1:
            raise NothingToCompareError(
                f"The campaign in {folder} was written by an earlier version and does not tell its plans apart; run it again."
            )
    labels = labels_of(folders)
    arms = {
        f"{label}: {variant}": (folder, manifest.spec, variant)
        for label, folder, manifest in zip(labels, folders, manifests, strict=True)
        for variant in manifest.spec.variants
    }
    baseline = baseline or next(iter(arms))
    if baseline not in arms:
        raise NothingToCompareError(f"{baseline} is none of these: {', '.join(arms)}.")
    together: dict[str, DataFrame] = {}
    for label, folder in zip(labels, folders, strict=True):
        for name, table in campaign_tables(spark, folder.resolve(), ("runs", "anomalies")).items():
            from pyspark.sql.functions import col, concat, lit

            named = table.withColumn("variant", concat(lit(f"{label}: "), col("variant")))
            together[name] = together[name].unionByName(named) if name in together else named
    for name, table in together.items():
        table.createOrReplaceTempView(name)
    most = sum(manifest.spec.plans * len(manifest.spec.variants) for manifest in manifests)
    imported = any(manifest.spec.world == IMPORTED for manifest in manifests)
    found = found_in_tables(SparkEngine(spark), tuple(arms), baseline, (), most, imported=imported)
    variants = tuple(
        replace(found.variant(arm), replay=replay_command(of, folder, variant, None))
        for arm, (folder, of, variant) in arms.items()
        if arm in found.totals
    )
    return as_comparison(found, " and ".join(labels), manifests[0], variants)


def differences(folders: Sequence[Path]) -> list[str]:
    """A sentence for each setting in which the campaigns differ."""
    labels = labels_of(folders)
    manifests = [campaign_in(folder) for folder in folders]
    told = [_settings(manifest.spec) | {"code": manifest.code[:12]} for manifest in manifests]
    names = [name for name in told[0] if all(name in one for one in told)]
    return [
        f"{name}: " + ", ".join(f"{label} {one[name]}" for label, one in zip(labels, told, strict=True))
        for name in names
        if len({str(one[name]) for one in told}) > 1
    ]


def labels_of(folders: Sequence[Path]) -> list[str]:
    """What the campaigns are called beside each other: their folders' names, a part's behind its campaign's, or paths where names
    are the same.
    """
    names = [
        folder.resolve().name if (whole := part_of(folder)) is None else f"{whole.name}/{folder.resolve().name}"
        for folder in folders
    ]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def _settings(spec: CampaignSpec) -> dict[str, object]:
    """All of a spec but its name and variants; the fields of cluster and workload one by one. Of imported histories nobody knows
    how they were run.
    """
    if spec.world == IMPORTED:
        return {"world": spec.world, "contract": spec.contract}
    cluster = ClusterSpec.from_json(dict(spec.cluster)).to_json()
    asked = asdict(AskedWorkload.from_json(spec.workload))
    flat = {name: DRAWN if value is None else value for name, value in asked.items()}
    flat |= {name: value for name, value in cluster.items() if name != "settings"} | dict(cluster["settings"])
    apart = ("name", "variants", "cluster", "workload", "cells")
    return {name: value for name, value in spec.to_json().items() if name not in apart} | flat
