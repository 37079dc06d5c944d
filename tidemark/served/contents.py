"""What a results folder holds: campaigns and runs, and how far each campaign has come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tidemark.harness.runs.folder import HISTORY, PLAN, REPORT, VERDICT

MANIFEST: Final = "manifest.json"
DEEPEST: Final = 5
"""So many folders below the root are looked into: a soak's runs lie that deep."""
MOST: Final = 2000
MOST_BYTES: Final = 64 << 20
"""A verdict larger than this is not read for a list."""


@dataclass(frozen=True, slots=True)
class Found:
    """A campaign or a run.

    Attributes:
        kind: ``campaign`` or ``run``. path: below the root.
        title: what it is of. state: a run's verdict, or how far a campaign has come.
        changed: when its folder's files last changed, s since 1970.
        report: whether there is a page.
    """

    kind: str
    path: str
    title: str
    state: str
    changed: float
    report: bool


@dataclass(frozen=True, slots=True)
class VariantState:
    """How far one variant of a campaign has come."""

    variant: str
    done: int
    violating: int
    unknown: int


@dataclass(frozen=True, slots=True)
class CampaignState:
    """A campaign as its folder shows it now."""

    name: str
    profile: str
    seed: int
    plans: int
    begun: str
    variants: tuple[VariantState, ...]
    imported: bool = False  # each plan is one history, of one variant

    @property
    def runs(self) -> int:
        """How many there are to be."""
        return self.plans if self.imported else self.plans * len(self.variants)

    @property
    def done(self) -> int:
        """How many there are."""
        return sum(variant.done for variant in self.variants)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to run."""
        return self.done >= self.runs


class UnreadableError(ValueError):
    """What somebody asked for cannot be read; the message is a sentence."""


def contents(root: Path) -> list[Found]:
    """All campaigns and runs below a folder, those first that changed last."""
    found = list(_below(root, root, 0))[:MOST]
    return sorted(found, key=lambda one: (-one.changed, one.path))


def _below(folder: Path, root: Path, depth: int) -> Iterator[Found]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    names = {entry.name for entry in entries}
    path = str(folder.relative_to(root))
    if MANIFEST in names and HISTORY not in names and _is_campaign(folder):
        yield Found("campaign", path, folder.name, _how_far(folder), _changed(folder), REPORT in names)
        entries = [entry for entry in entries if entry.name in ("evidence", "parts")]
    elif HISTORY in names:
        yield Found("run", path, folder.name, _verdict_of(folder), _changed(folder), REPORT in names)
        return
    if depth < DEEPEST:
        for entry in entries:
            if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith("."):
                yield from _below(entry, root, depth + 1)


def _is_campaign(folder: Path) -> bool:
    return (folder / "runs").is_dir() or (folder / "comparison.json").is_file()


def _how_far(folder: Path) -> str:
    try:
        state = campaign_state(folder)
    except UnreadableError:
        return "cannot be read"
    return "complete" if state.complete else f"{state.done} of {state.runs} runs"


def _changed(folder: Path) -> float:
    try:
        return max((entry.stat().st_mtime for entry in folder.iterdir()), default=folder.stat().st_mtime)
    except OSError:
        return 0.0


def _verdict_of(folder: Path) -> str:
    try:
        valid = verdict_of(folder).get("valid", "?")
    except UnreadableError:
        return "not judged"
    return str(valid)


def verdict_of(folder: Path) -> dict[str, Any]:
    """A run's verdict as it is stored.

    Raises:
        UnreadableError: there is none, or not one that can be read.
    """
    path = folder / VERDICT
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"{path.name} is too large to be shown")
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path.name} cannot be read ({error})") from None
    if not isinstance(data, dict):
        raise UnreadableError(f"{path.name} is no verdict")
    return data


def files_of(folder: Path) -> list[str]:
    """The names of a run's files that can be shown, the page first."""
    first = (REPORT, "report-timeline.html", VERDICT, PLAN, HISTORY)
    there = [entry.name for entry in folder.iterdir() if entry.is_file()]
    return [name for name in first if name in there] + sorted(name for name in there if name not in first)


def campaign_state(folder: Path) -> CampaignState:
    """How far a campaign has come, read off its chunks.

    Raises:
        UnreadableError: its manifest or a chunk cannot be read, or what reads them is not installed.
    """
    try:
        from tidemark.pipeline.folder.finished_chunks import take_stock
        from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest
    except ImportError as error:
        raise UnreadableError(
            f"campaigns cannot be read here: {error}; pip install 'tidemark-chaos[campaign]'"
        ) from None
    try:
        manifest = Manifest.read(folder)
        if manifest is None:
            raise UnreadableError("there is no campaign")
        spec = manifest.spec
        chunks = list(take_stock(folder, manifest, ()).finished.values())
    except (CampaignRefusedError, OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableError(f"the campaign cannot be read: {error}") from None
    variants = []
    for variant in spec.variants:
        mine = [chunk for chunk in chunks if chunk.variant == variant]
        sums = (sum(getattr(chunk, name) for chunk in mine) for name in ("runs", "violating", "unknown"))
        variants.append(VariantState(variant, *sums))
    plans, imported = spec.plans, spec.world == "imported"
    return CampaignState(spec.name, spec.profile, spec.seed, plans, manifest.begun, tuple(variants), imported)
