"""Where imported histories come from: files that were named, and those that lie in folders.

In a folder everything is taken whose name says that it may be a history, in order of path: ``*.jsonl`` and ``*.edn``, gzipped or
not, and ``*.parquet``. Left out are hidden names, campaigns (their tables are Parquet, too), and what Jepsen writes beside
a history.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tidemark.harness.runs.folder import HISTORY, PLAN
from tidemark.pipeline.folder.tables import MANIFEST

ENDINGS: Final = (".jsonl", ".jsonl.gz", ".edn", ".edn.gz", ".parquet")
NO_HISTORIES: Final = ("results.edn", "test.edn")
UNNAMED: Final = "unnamed"
"""The variant of histories that name none, as Jepsen's do."""
_GZIP: Final = b"\x1f\x8b"
_LONGEST_LINE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A file that holds a history.

    Attributes:
        file: what is read, an absolute path.
        size: of the file, bytes.
        digest: SHA-256 of its bytes.
        variant: that its meta line names, or that somebody chose.
    """

    file: Path
    size: int
    digest: str
    variant: str

    @property
    def name(self) -> Path:
        """What commands about it are given: of a run of ours the folder, which has the plan as well."""
        return self.file.parent if self.file.name == HISTORY and (self.file.parent / PLAN).is_file() else self.file


@dataclass(frozen=True, slots=True)
class Found:
    """The files that were named or found, each once, and the campaigns that were not entered."""

    files: tuple[Path, ...]
    campaigns: tuple[Path, ...]


def find_files(paths: Iterable[Path]) -> Found:
    """The files to import, absolute: of a folder those in it and below, of a file itself, whatever it is called."""
    files: dict[Path, None] = {}
    campaigns: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            files[path.resolve()] = None
            continue
        for place, below, names in os.walk(path):
            here = Path(place).resolve()
            if MANIFEST in names and HISTORY not in names:
                campaigns[here] = None
                below.clear()
                continue
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(names):
                if name.endswith(ENDINGS) and not name.startswith(".") and name not in NO_HISTORIES:
                    files[(here / name).resolve()] = None
    return Found(tuple(files), tuple(campaigns))


def source_of(file: Path, variant: str | None) -> Source:
    """What is known of a file before it is read as a history.

    Args:
        file: It.
        variant: What it is to be called; else what it calls itself.

    Raises:
        OSError: It cannot be read.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.ESPIPE, "a pipe or a device")
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        size = opened.tell()
    return Source(file, size, digest, variant or _variant_in(file) or UNNAMED)


def in_groups(sources: Iterable[Source], most: int, most_bytes: int) -> Iterator[list[Source]]:
    """Sources of one variant each, in their order, variants in that of their first sources: at most so many, and so many bytes (or
    one that is larger).
    """
    by_variant: dict[str, list[Source]] = {}
    for source in sources:
        by_variant.setdefault(source.variant, []).append(source)
    for mine in by_variant.values():
        group: list[Source] = []
        for source in mine:
            if group and (len(group) == most or sum(one.size for one in group) + source.size > most_bytes):
                yield group
                group = []
            group.append(source)
        yield group


def _variant_in(file: Path) -> str:
    """What the meta line says, empty if there is none. Whether the rest is a history is found by who reads it."""
    try:
        with file.open("rb") as opened:
            zipped = opened.read(2) == _GZIP
            opened.seek(0)
            line = (gzip.GzipFile(fileobj=opened) if zipped else opened).readline(_LONGEST_LINE)
        entry = json.loads(line.decode("utf-8-sig"))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return ""
    is_meta = isinstance(entry, dict) and entry.get("kind") == "meta"
    return str(entry.get("variant") or "") if is_meta else ""
