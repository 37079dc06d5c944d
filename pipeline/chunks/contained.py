"""One run of a campaign in containers: the same plan, real processes, and everything of it kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.harness.runs.folder import store_verdict
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.runs.simulate import plan_of

if TYPE_CHECKING:
    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec


class Contained:
    """What `simulate` is for the simulator: runs a plan of a campaign in the containers of a session.

    Args:
        session: Brings up the containers when the first run wants them, and keeps them for the next.
        folder: The campaign's folder.
    """

    def __init__(self, session: ContainerSession, folder: Path) -> None:
        self._session = session
        self._folder = folder
        self._which = ""

    def __call__(self, spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        """Run plan `index` under `variant`."""
        plan = plan_of(spec, index)
        self._which = f"{variant}, plan {index}"
        where = run_folder(self._folder, variant, index)
        _set_aside(where)
        result = self._session.execute(plan, self._session.system.variant(variant), spec.contract, folder=where)
        store_verdict(where, result.verdict, result.digest)
        return plan, result

    def now_running(self) -> str:
        """The run under way, in a few words."""
        return f"{self._which}: {self._session.progress}" if self._which else str(self._session.progress)


def _set_aside(where: Path) -> None:
    """What an earlier try left behind stays, under another name: it was interrupted, or raised and is tried again."""
    if where.exists():
        number = 1 + sum(1 for _ in where.parent.glob(f"{where.name}.earlier-*"))
        where.rename(where.with_name(f"{where.name}.earlier-{number}"))
