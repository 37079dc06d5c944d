"""How a campaign ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from tidemark.pipeline.folder.refusal import RefusalError

if TYPE_CHECKING:
    from tidemark.pipeline.folder.record import ChunkSummary
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

Status: TypeAlias = Literal["finished", "interrupted", "stopped"]
"""The last: at the first violation."""


class CampaignFailedError(RefusalError):
    """Spark gave up on a chunk; what was finished is kept. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class CampaignOutcome:
    """How a campaign ended. All numbers count runs, those of earlier attempts included."""

    status: Status
    runs: int
    expected: int
    violating: dict[str, int]  # by variant
    unknown: int  # errors included
    errors: int
    folder: Path = field(compare=False)

    def sentences(self) -> str:
        """The outcome in words, with how to go on if it was interrupted."""
        found = ", ".join(f"{variant} {runs}" for variant, runs in self.violating.items())
        words = f"{self.runs} of {self.expected} runs are done. Runs with a violation: {found}."
        if self.unknown:
            raised = (
                f", {self.errors} of them because the run raised (tidemark runs --unknown tells; --retry-errors tries again)"
                if self.errors
                else ""
            )
            words += f" {self.unknown} ended unknown{raised}."
        if self.status == "stopped":
            words += f" It ended at the first violation; without --stop-at-first it goes on in {self.folder}."
        if self.status == "interrupted":
            words += f" Give the same command again to go on in {self.folder}."
        return words

    @classmethod
    def of(cls, status: Status, spec: CampaignSpec, folder: Path, chunks: Collection[ChunkSummary]) -> Self:
        """By what is finished."""
        return cls(
            status=status,
            runs=sum(chunk.runs for chunk in chunks),
            expected=spec.plans * len(spec.variants),
            violating={v: sum(chunk.violating for chunk in chunks if chunk.variant == v) for v in spec.variants},
            unknown=sum(chunk.unknown for chunk in chunks),
            errors=sum(chunk.errors for chunk in chunks),
            folder=folder,
        )
