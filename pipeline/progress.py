"""What a person sees while a campaign runs: runs done and violations found per variant, and when it will end."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pipeline.campaign_spec import CampaignSpec
from pipeline.chunk import ChunkSummary


class CampaignProgress:
    """A progress bar for the campaign and one for each variant, fed with the chunks finished so far."""

    def __init__(self, spec: CampaignSpec, console: Console) -> None:
        """Draw on `console` once entered as a context."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}"),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
        )
        self._now = self._progress.add_task("", total=None, found="", visible=False)
        self._all = self._progress.add_task(spec.name, total=spec.plans * len(spec.variants), found="")
        self._tasks: dict[str, TaskID] = {
            variant: self._progress.add_task(f"  {variant}", total=spec.plans, found="") for variant in spec.variants
        }

    def __enter__(self) -> Self:
        """Start to draw."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        self._progress.stop()

    def show(self, chunks: Iterable[ChunkSummary], now_running: str = "") -> None:
        """Show all chunks finished so far, those of an earlier attempt included, and what is being done now."""
        if now_running:
            self._progress.update(self._now, found=now_running, visible=True)
        chunks = list(chunks)
        for variant, task in self._tasks.items():
            done = [chunk for chunk in chunks if chunk.variant == variant]
            violating, unknown = sum(c.violating for c in done), sum(c.unknown for c in done)
            found = f"{violating} violating" + (f", {unknown} unknown" if unknown else "")
            self._progress.update(task, completed=sum(c.runs for c in done), found=found)
        self._progress.update(
            self._all,
            completed=sum(c.runs for c in chunks),
            found=f"{sum(c.violating for c in chunks)} violating",
        )
