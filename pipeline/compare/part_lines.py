"""The parts of a campaign beside each other, each variant with how often it broke its promise: read off records, without Spark."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from tidemark.harness.report.comparison import PartLine, Rate
from tidemark.pipeline.compare.statistics import wilson
from tidemark.pipeline.folder.campaign_parts import part_of, several_parts
from tidemark.pipeline.folder.finished_chunks import take_stock

PAGE = "report.html"


def part_lines(folder: Path, pages: Collection[Path] = ()) -> list[PartLine]:
    """A line for each variant of each part of the campaign to which a folder belongs; none of a campaign of one part.

    Args:
        folder: The campaign's, or a part's, from where links begin.
        pages: Folders of parts that are about to get a page; those that have one are seen.

    Raises:
        CampaignRefusedError: A part's manifest cannot be read.
    """
    here = folder.resolve()
    soon = {page.resolve() for page in pages}
    lines = []
    for part in several_parts(part_of(here) or here):
        place = part.folder.resolve()
        linked = place != here and (place in soon or (place / PAGE).is_file())
        page = Path(os.path.relpath(place / PAGE, here)).as_posix() if linked else None
        chunks = take_stock(place, part.manifest, ()).finished.values()
        for variant in part.spec.variants:
            mine = [chunk for chunk in chunks if chunk.variant == variant]
            runs, unknown = (sum(getattr(chunk, name) for chunk in mine) for name in ("runs", "unknown"))
            hits = sum(chunk.violating for chunk in mine)
            rate = Rate(hits, runs - unknown, *wilson(hits, runs - unknown), unknown)
            lines.append(PartLine(part.title, place == here, page, variant, runs, part.spec.plans, rate))
    return lines
