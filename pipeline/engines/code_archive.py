"""Our packages as one zip that travels with a job, so that nothing of ours is installed on workers.

The same code makes the same bytes, on any day and in any folder, and the zip's name has their digest: a worker that keeps files of
earlier jobs cannot take one for the other.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

from tidemark.pipeline.folder.code_digest import ROOMS, ROOT

PACKAGE = "tidemark"
OWN = ("__init__.py", "cli", "served")
"""What lies in the package's own folder."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip can name: no file's own counts."""
PLAIN_FILE = 0o644 << 16
DIGITS = 16


@cache
def code_archive(root: Path = ROOT) -> tuple[str, bytes]:
    """The zip's name and content, uncompressed: it is 3 MB, once for each worker, and Python reads it faster.

    Args:
        root: The folder that holds the rooms.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, path in sorted(_sources(root).items()):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.external_attr = PLAIN_FILE
            entry.create_system = 3  # Unix, wherever it was made
            archive.writestr(entry, path.read_bytes())
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:DIGITS]
    return f"tidemark-{digest}.zip", content.getvalue()


def _sources(root: Path) -> dict[str, Path]:
    """Code and data of our package, by their names in the zip, without what Python compiled."""
    own = root / PACKAGE if (root / PACKAGE).is_dir() else root  # in a checkout the rooms lie beside it
    tops = [*(root / room for room in ROOMS), *(own / name for name in OWN)]
    return {
        f"{PACKAGE}/{path.relative_to(top.parent).as_posix()}": path
        for top in tops
        for path in ([top] if top.is_file() else top.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".so")
    }
