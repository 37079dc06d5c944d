"""The campaign in a folder of which something is asked."""

from __future__ import annotations

from pathlib import Path

from tidemark.pipeline.folder.finished_chunks import Stock, whole
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.folder.refusal import RefusalError


class NothingToCompareError(RefusalError, ValueError):
    """The folder holds no campaign, or not the baseline asked for; the text is one sentence."""


def campaign_in(folder: Path) -> Manifest:
    """The manifest of the campaign in a folder.

    Raises:
        NothingToCompareError: There is none.
    """
    manifest = Manifest.read(folder)
    if manifest is None:
        raise NothingToCompareError(f"{folder} holds no campaign.")
    return manifest


def finished_in(folder: Path, names: tuple[str, ...]) -> tuple[Manifest, Stock]:
    """The manifest of the campaign in a folder, and its finished chunks, whose files of these tables are whole.

    Raises:
        NothingToCompareError: There is no campaign, or no chunk is finished yet.
        DamagedTableError: A file is not what the campaign wrote.
    """
    manifest = campaign_in(folder)
    stock = whole(folder, manifest, names)
    if not stock.finished:
        raise NothingToCompareError(f"The campaign in {folder} has no finished chunk yet.")
    return manifest, stock
