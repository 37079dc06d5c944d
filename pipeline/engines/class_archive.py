"""Spark's classes as an archive that a JVM maps into its memory, where it would else read, verify and link thousands of them.

Java calls that class data sharing. The first JVM that may writes the archive when it ends, which takes it some seconds that nobody
waits for; all later ones start from it. It is of one build of Java and one Spark, and lies beside the shim of that Java
(`tidemark.pipeline.engines.java`), which gives it its name when it is whole. A JVM that cannot use an archive starts without.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from tidemark.pipeline.engines.java import SHIM_PREFIX, cache_folder

QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""Java says on the terminal which classes it leaves out, and why; that is nobody's concern."""
WRITES = "-XX:ArchiveClassesAtExit"
"""The option of a JVM that is to write it."""
GIVEN_UP_S = 3600
"""Who was to write it this long ago never will."""


def archive_options(java_home: Path, spark: Path, version: str, *, make: bool) -> str:
    """Options for the JVM of a Spark session: to use the archive, or to write it.

    Args:
        java_home: What `ensure_java_home` returned.
        spark: The folder of the package pyspark.
        version: Its version.
        make: This session loads what others will need, so it may write the archive, if there is none and nobody else is at it.

    Returns:
        None of them (``""``) where the user's cache folder cannot be written.
    """
    if java_home.parent != cache_folder() or not java_home.name.startswith(SHIM_PREFIX):
        return ""
    key = hashlib.sha256(f"{version}\n{spark}".encode()).hexdigest()[:16]
    archive = java_home / f"classes-{key}.jsa"
    if archive.is_file():
        return f'{QUIET} "-XX:SharedArchiveFile={archive}"'
    if make and _first(java_home / f".{archive.name}.making"):
        return f'{QUIET} "{WRITES}={archive}.{os.getpid()}.new"'
    return ""


def _first(marker: Path) -> bool:
    """Whether nobody else has lately set out to do the same."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        try:
            if time.time() - marker.stat().st_mtime < GIVEN_UP_S:
                return False
            marker.touch()
        except OSError:
            return False
    except OSError:
        return False
    return True
