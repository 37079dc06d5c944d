"""What a person sees while a campaign runs: runs done and violations found per variant, and when it will end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.progress import TaskID

from tidemark.pipeline.campaign.bar import bar_of
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.runs.campaign_spec import CampaignSpec


class CampaignProgress:
    """A progress bar for the campaign and one for each variant, fed with a list of finished chunks that grows.

    Args:
        spec: What is run.
        console: Where it is drawn, once this is entered as a context.
        before: The chunks of earlier attempts.
    """

    def __init__(self, spec: CampaignSpec, console: Console, before: Sequence[ChunkSummary] = ()) -> None:
        self._counted = 0
        self._counts: dict[str, Counter[str]] = {variant: Counter() for variant in spec.variants}
        for chunk in before:
            self._count(chunk)
        self._progress = bar_of(console)
        self._now = self._progress.add_task("", total=None, found="", visible=False)
        self._all = self._progress.add_task(spec.name, total=spec.plans * len(spec.variants), found="")
        self._tasks: dict[str, TaskID] = {
            variant: self._progress.add_task(f"  {variant}", total=spec.plans, found="") for variant in spec.variants
        }

    def __enter__(self) -> Self:
        """Start to draw."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state on the screen."""
        self._progress.stop()

    def show(self, chunks: Sequence[ChunkSummary], now_running: str = "") -> None:
        """Show all chunks finished so far, and what is being done now.

        Args:
            chunks: Those of this attempt; each time the same ones, and new ones behind them.
            now_running: In a few words.
        """
        if now_running:
            self._progress.update(self._now, found=now_running, visible=True)
        for chunk in chunks[self._counted :]:
            self._count(chunk)
            self._counted += 1
        for variant, task in self._tasks.items():
            done = self._counts[variant]
            found = f"{done['violating']} violating" + (f", {done['unknown']} unknown" if done["unknown"] else "")
            self._progress.update(task, completed=done["runs"], found=found)
        every = sum(self._counts.values(), Counter[str]())
        self._progress.update(self._all, completed=every["runs"], found=f"{every['violating']} violating")

    def _count(self, chunk: ChunkSummary) -> None:
        counts = {"runs": chunk.runs, "violating": chunk.violating, "unknown": chunk.unknown}
        self._counts[chunk.variant].update(counts)
