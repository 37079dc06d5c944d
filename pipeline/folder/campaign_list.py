"""Which campaigns lie below a folder, and how far each has come: read off manifests and records, without Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidemark.pipeline.folder.campaign_parts import PARTS, added_folders
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.manifest import RECHECKS, CampaignRefusedError, Manifest
from tidemark.pipeline.folder.tables import MANIFEST, RECORDS, SCHEMAS
from tidemark.pipeline.runs.campaign_spec import IMPORTED

DEEPEST = 3
NOT_ENTERED = {*SCHEMAS, RECORDS, RECHECKS, "evidence", "set-aside"}


@dataclass(frozen=True, slots=True)
class ListedCampaign:
    """One campaign, or a part that was added to one. Numbers count runs; `violating` by variant; `asked` has (day, plans, variants)
    of its beginning and growth; `part_of` is the folder of the campaign it was added to.
    """

    folder: Path
    world: str
    system: str
    profile: str
    seed: int
    plans: int
    runs: int
    expected: int
    violating: dict[str, int]
    unknown: int
    errors: int
    begun: str
    asked: tuple[tuple[str, int, int], ...]
    trouble: str | None = None
    part_of: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values; `part_of` of parts alone."""
        data = asdict(self) | {"folder": str(self.folder), "asked": [list(one) for one in self.asked]}
        of = data.pop("part_of")
        return data if of is None else data | {"part_of": str(of)}


def list_campaigns(root: Path) -> Iterator[ListedCampaign | tuple[Path, str]]:
    """The campaigns in `root` and below it, by path, each with its parts behind it; of one whose manifest cannot be read its folder
    and why.
    """
    for folder, whole in _folders(root):
        try:
            manifest = Manifest.read(folder)
        except CampaignRefusedError as error:
            yield folder, str(error)
            continue
        if manifest is not None:
            yield listed(folder, manifest, whole)


def _folders(root: Path) -> Iterator[tuple[Path, Path | None]]:
    """Of campaigns, each with that of the campaign it was added to."""
    for place, below, names in os.walk(root):
        depth = len(Path(place).relative_to(root).parts)
        below[:] = (
            [] if depth >= DEEPEST else sorted(name for name in below if name not in NOT_ENTERED and name[0] != ".")
        )
        if MANIFEST in names:
            folder = Path(place)
            yield folder, None
            added = added_folders(folder)
            for part in added:
                yield from ((below_it, folder if below_it == part else None) for below_it, _ in _folders(part))
            below[:] = [name for name in below if name != PARTS or not added]


def listed(
    folder: Path, manifest: Manifest, whole: Path | None = None, *, trouble: str | None = None
) -> ListedCampaign:
    """One campaign.

    Args:
        folder: The campaign's.
        manifest: What it says.
        whole: The folder of the campaign it was added to, if it is a part.
        trouble: What is wrong with it elsewhere, if anything is.
    """
    spec = manifest.spec
    stock = take_stock(folder, manifest, ())  # sizes and bytes are looked at when somebody reads them
    chunks = stock.finished.values()
    variants = 1 if spec.world == IMPORTED else len(spec.variants)  # of an imported plan there is one run
    return ListedCampaign(
        folder=folder,
        world=spec.world,
        system=spec.system,
        profile=spec.profile,
        seed=spec.seed,
        plans=spec.plans,
        runs=sum(chunk.runs for chunk in chunks),
        expected=spec.plans * variants,
        violating={v: sum(chunk.violating for chunk in chunks if chunk.variant == v) for v in spec.variants},
        unknown=sum(chunk.unknown for chunk in chunks),
        errors=sum(chunk.errors for chunk in chunks),
        begun=manifest.begun,
        asked=tuple((asked.day, asked.plans, len(asked.variants)) for asked in manifest.asked),
        trouble=stock.damaged[0].words() if stock.damaged else trouble,
        part_of=whole,
    )
