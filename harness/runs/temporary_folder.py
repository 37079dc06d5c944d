"""Temporary folders that say whose they are, so that one that a killed process left can be told from one in use."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tidemark.harness.runs.process_start import started


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A new one of this process; it goes when it is closed."""
    pid = os.getpid()
    return tempfile.TemporaryDirectory(prefix=_prefix(str(pid), started(pid)))


def remove_folders_of(pid: str, start: str) -> None:
    """Remove those of a process, named by its number and when it started."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix(pid, start)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(pid: str, start: str) -> str:
    return f"tidemark-{pid}-{start}-"
