"""Which campaigns there are is told without Spark."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.campaign_list import list_campaigns
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"


def test_campaigns_are_listed_with_how_far_they_have_come(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "results" / "one"
    manifest = open_campaign(folder, spec, chunk_size=5)
    run_chunk(Task(spec, folder, manifest.identity, simulate), manifest.layout.task(0))
    open_campaign(folder, replace(spec, plans=20), chunk_size=5)
    open_campaign(tmp_path / "results" / "two", replace(spec, name="two"), chunk_size=5)
    (tmp_path / "results" / "worse").mkdir()
    (tmp_path / "results" / "worse" / "manifest.json").write_text("[]")

    one, two, worse = list_campaigns(tmp_path / "results")

    assert (one.folder, one.runs, one.expected, one.violating) == (folder, 5, 40, {OLD: 2, NEW: 0})
    assert [asked[1:] for asked in one.asked] == [(12, 2), (20, 2)]
    assert (two.runs, two.expected, two.trouble) == (0, 24, None)
    assert worse[0].name == "worse"
    assert "is not a campaign's manifest" in worse[1]
