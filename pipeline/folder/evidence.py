"""Where a campaign in a real world keeps each run's folder. Such a run cannot be repeated, so all of it is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tidemark.checkers import check
from tidemark.harness.runs.folder import PLAN, VERDICT, load_history
from tidemark.harness.runs.judged import JudgedRun
from tidemark.nemesis import Plan, read_plan
from tidemark.pipeline.folder.manifest import EVIDENCE

if TYPE_CHECKING:
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import Simulate


def run_folder(folder: Path, variant: str, index: int) -> Path:
    """The folder of one run of the campaign in `folder`: plan, history, verdict, the nodes' logs."""
    return folder / EVIDENCE / quote(variant, safe="+") / f"plan-{index:05d}"


def stored_runs(folder: Path) -> Simulate:
    """Looks runs up in place of running them again."""

    def look_up(spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        where = run_folder(folder, variant, index)
        plan, history = read_plan(where / PLAN), load_history(where)
        stored = json.loads((where / VERDICT).read_text(encoding="utf-8"))
        duration = int(history.meta.get("end_us", 0))
        return plan, JudgedRun(history, check(history), stored["digest"], len(history.trace), duration)

    return look_up
