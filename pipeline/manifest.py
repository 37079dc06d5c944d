"""Which campaign a folder holds: its spec and the code that ran it, so that a resumed campaign cannot mix two experiments."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.campaign_spec import CampaignSpec
from pipeline.tables import SCHEMAS

MANIFEST = "manifest.json"
DEFAULT_CHUNK_SIZE = 25
ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds our packages."""

ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")
PIPELINE_CODE = tuple(
    f"pipeline/{name}.py" for name in ("campaign_spec", "simulate", "contained", "chunk", "rows", "tables")
)
"""The part of this room that can change a table; the rest only starts the work or reads its result."""


class CampaignRefusedError(RuntimeError):
    """The folder cannot take this campaign; the text is one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a campaign's folder was begun with."""

    spec: CampaignSpec
    chunk_size: int  # plans
    code: str  # digest of our source files
    begun: str = ""  # the day, UTC; empty of a folder begun by an earlier version

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        return {
            "format": 1,
            "spec": self.spec.to_json(),
            "chunk_size": self.chunk_size,
            "code": self.code,
            "begun": self.begun,
        }

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """The manifest of a campaign's folder, `None` if there is none.

        Raises:
            CampaignRefusedError: The file is there and cannot be read.
        """
        path = folder / MANIFEST
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                CampaignSpec.from_json(data["spec"]),
                int(data["chunk_size"]),
                str(data["code"]),
                str(data.get("begun", "")),
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise CampaignRefusedError(
                f"{path} is not a campaign's manifest ({error}); start over with --fresh."
            ) from error

    def write(self, folder: Path) -> None:
        """Write the manifest, whole or not at all."""
        temporary = folder / f".{MANIFEST}.tmp"
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(self.to_json(), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / MANIFEST)


def open_campaign(folder: Path, spec: CampaignSpec, *, chunk_size: int | None, fresh: bool) -> Manifest:
    """Begin the campaign in `folder`, or go on with it; half-written files of an earlier attempt are removed.

    Args:
        folder: Created if missing.
        spec: What to run.
        chunk_size: Plans per chunk; `None` takes what the folder was begun with, else `DEFAULT_CHUNK_SIZE`.
        fresh: Throw away what the folder holds of the tables.

    Raises:
        CampaignRefusedError: The folder holds another spec, or results of other code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if fresh:
        for name in SCHEMAS:
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / MANIFEST).unlink(missing_ok=True)
    earlier = Manifest.read(folder)
    if earlier is None:
        if any((folder / name).exists() for name in SCHEMAS):
            raise CampaignRefusedError(f"{folder} holds tables without a manifest; start over with --fresh.")
        begun = datetime.now(UTC).date().isoformat()
        manifest = Manifest(spec, chunk_size or DEFAULT_CHUNK_SIZE, code_digest(), begun)
        manifest.write(folder)
        return manifest
    wanted = Manifest(spec, chunk_size or earlier.chunk_size, code_digest())
    _refuse_change(folder, earlier, wanted)
    for name in SCHEMAS:
        for leftover in (folder / name).rglob(".*.tmp"):
            leftover.unlink(missing_ok=True)
    return earlier


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system releases even if this process is killed.

    Raises:
        CampaignRefusedError: Another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CampaignRefusedError(f"Another campaign is running in {folder}.") from error
        yield


def code_digest(root: Path = ROOT) -> str:
    """SHA-256 over the names and contents of our source files, without those that cannot change a run."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name.startswith("harness/report/") or (room == "pipeline" and name not in PIPELINE_CODE):
                continue
            content = path.read_bytes()
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _refuse_change(folder: Path, earlier: Manifest, wanted: Manifest) -> None:
    """Raise with the first difference that matters."""
    before, now = earlier.spec.to_json(), wanted.spec.to_json()
    changed = [name for name in now if before[name] != now[name]]
    if changed:
        name = changed[0]
        raise CampaignRefusedError(
            f"{folder} holds a campaign with {name} {before[name]!r}, not {now[name]!r}; "
            "choose another folder or start over with --fresh."
        )
    if earlier.chunk_size != wanted.chunk_size:
        raise CampaignRefusedError(
            f"{folder} was begun with {earlier.chunk_size} plans per chunk, not {wanted.chunk_size}; "
            "leave the size out or start over with --fresh."
        )
    if earlier.code != wanted.code:
        raise CampaignRefusedError(
            f"The code has changed since the campaign in {folder} was begun, so its runs could differ; "
            "choose another folder or start over with --fresh."
        )
