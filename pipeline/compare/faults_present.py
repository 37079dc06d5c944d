"""Which kinds of faults the plans of violating runs have, beside those of all plans; each plan is drawn again from its seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from tidemark.harness.report.comparison import FaultsPresent, PresentIn, Rate
from tidemark.nemesis.kinds import by_kind
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant
from tidemark.pipeline.chunks.chunk import plan_digest
from tidemark.pipeline.compare.statistics import wilson
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.run_list import columns_of
from tidemark.pipeline.folder.tables import RUNS, chunk_file
from tidemark.pipeline.runs.campaign_spec import IMPORTED, CampaignSpec
from tidemark.pipeline.runs.simulate import plan_of

MOST: Final = 2000
"""So many plans are looked at for all runs, and for each variant's violating ones at most: the first, by number."""
_COLUMNS: Final = ["plan", "plan_digest", "valid"]


def faults_present(folder: Path) -> FaultsPresent | None:
    """What the plans of a campaign's violating runs have, by variant and kind of fault.

    None of imported histories, which have no plans; where nothing was violated; and where the seed does not give the plans any more
    that were run, as of a campaign of another version.

    Raises:
        UnreadableTableError: A file of the tables is damaged.
    """
    manifest = Manifest.read(folder)
    if manifest is None or manifest.spec.world == IMPORTED:
        return None
    spec = manifest.spec
    digests: dict[int, str | None] = {}
    seen: Counter[str] = Counter()
    violating: dict[str, list[int]] = {variant: [] for variant in spec.variants}
    for variant, number in sorted(take_stock(folder, manifest, ()).finished):
        runs = columns_of(chunk_file(folder, "runs", spec.name, variant, number), _COLUMNS, RUNS)
        bad = runs.filter(pc.equal(runs["valid"], "invalid")).slice(0, MOST - len(violating[variant]))
        violating[variant] += bad["plan"].to_pylist()
        for row in [*runs.slice(0, max(MOST - seen[variant], 0)).to_pylist(), *bad.to_pylist()]:
            digests[row["plan"]] = row["plan_digest"] or digests.get(row["plan"])  # a run that raised has none
        seen[variant] += runs.num_rows
    if not any(violating.values()):
        return None
    kinds = _kinds_by_plan(spec, digests)
    if kinds is None:
        return None
    everywhere = sorted(digests)[:MOST]
    present = {name: _present(kinds, plans, _left_out(name)) for name, plans in violating.items() if plans}
    return FaultsPresent(_present(kinds, everywhere), present, whole=max(seen.values()) <= MOST)


def _kinds_by_plan(spec: CampaignSpec, digests: Mapping[int, str | None]) -> dict[int, list[str]] | None:
    """The kinds of each plan's faults, by the digests of the plans that were run; None if one is another now."""
    found = {}
    for number, digest in digests.items():
        plan = plan_of(spec, number)
        if digest not in {None, plan_digest(plan)}:
            return None
        found[number] = [fault.kind for fault in plan.faults]
    return found


def _left_out(variant: str) -> Collection[str]:
    """The kinds that a variant's family cannot suffer."""
    try:
        return by_kind(family_of(parse_variant(variant)).not_suffered)
    except VariantError:  # brokers of a real Kafka, held to some protocol
        return ()


def _present(kinds: Mapping[int, list[str]], plans: Collection[int], left_out: Collection[str] = ()) -> PresentIn:
    counted = Counter(kind for plan in plans for kind in {*kinds[plan]})
    every = sorted({kind for of_plan in kinds.values() for kind in of_plan} - {*left_out})
    rates = {kind: Rate(counted[kind], len(plans), *wilson(counted[kind], len(plans))) for kind in every}
    return PresentIn(len(plans), sum(len(kinds[plan]) for plan in plans) / len(plans), rates)
