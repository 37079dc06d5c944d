"""The campaign in a folder of which something is asked."""

from __future__ import annotations

from pathlib import Path

from pipeline.manifest import Manifest


class NothingToCompareError(ValueError):
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
