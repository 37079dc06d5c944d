"""What Tidemark wrote and may write anew, and what is somebody's own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_BEGIN: Final = 1 << 13
_MARKS: Final = {
    ".html": (b'<meta name="generator" content="Tidemark">', b"<title>Tidemark: "),
    ".svg": (b"<dc:title>Tidemark</dc:title>",),
    ".png": (b"Software\x00Tidemark",),
    ".pdf": (b"/Creator (Tidemark)",),
}

FIGURES: Final = ("latency", "latency-quantiles", "rate", "availability", "recovery", "behind", "spacetime")


class SomebodysFileError(ValueError):
    """A file would be overwritten that is not Tidemark's; the message names it."""


def is_ours(path: Path) -> bool:
    """Whether a page or a figure says that Tidemark made it.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        begin = file.read(None if path.suffix == ".pdf" else _BEGIN)  # which says so at its end
    return any(mark in begin for mark in _MARKS.get(path.suffix, ()))


def refuse_to_overwrite(page: Path) -> None:
    """Look at every file that may be written for a page.

    Raises:
        SomebodysFileError: one is there, and is not ours.
        OSError: one is there and cannot be read.
    """
    beside = [page.with_name(f"{page.stem}-timeline.html")]
    beside += [
        page.with_name(f"{page.stem}-{figure}{suffix}") for figure in FIGURES for suffix in (".svg", ".png", ".pdf")
    ]
    for path in (page, *beside):
        if path.exists() and (path.is_dir() or not is_ours(path)):
            raise SomebodysFileError(f"{path} is there, and Tidemark did not write it")


def refuse_to_litter(page: Path) -> None:
    """Look at the folder that a page and its figures are to fill.

    Raises:
        SomebodysFileError: other things are there, and no page of ours.
        OSError: it is there and cannot be read.
    """
    folder = page.parent
    if folder.is_dir() and any(folder.iterdir()) and not (page.is_file() and is_ours(page)):
        raise SomebodysFileError(f"{folder} is there, and has other things in it")
