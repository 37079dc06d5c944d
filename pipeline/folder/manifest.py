"""Which campaign a folder holds: its spec and the code that ran it, so that a campaign that goes on cannot mix two experiments."""

from __future__ import annotations

import fcntl
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidemark.pipeline.folder.code_digest import changed, code_digest, own_code_parts
from tidemark.pipeline.folder.layout import Layout, Stretch
from tidemark.pipeline.folder.record import write_whole
from tidemark.pipeline.folder.refusal import RefusalError
from tidemark.pipeline.folder.tables import FORMAT, MANIFEST, READABLE, RECORDS, SCHEMAS
from tidemark.pipeline.runs.campaign_spec import IMPORTED, CampaignSpec

DEFAULT_CHUNK_SIZE = 25
EVIDENCE = "evidence"
EARLIER = "earlier"
LOCK = ".lock"
RECHECKS = "rechecks"
TABLES_OF_A_CAMPAIGN = (*SCHEMAS, RECORDS, RECHECKS)


class CampaignRefusedError(RefusalError):
    """The folder cannot take this campaign; the text is one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for on one day: at the beginning, and whenever the campaign grew."""

    day: str  # UTC
    plans: int
    variants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a campaign's folder holds.

    Attributes:
        spec: what is run, all that it has grown to. layout: how that is cut into chunks.
        code: digest of the code that decides about runs; `parts` of it by name (`tidemark.pipeline.folder.code_digest`).
        begun: the day, UTC; empty of a folder begun by an earlier version.
        identity: of this campaign and no other; its chunks' records have it.
        asked: what was asked for at the beginning, and each time it grew.
        format: see `tidemark.pipeline.folder.tables.READABLE`.
    """

    spec: CampaignSpec
    layout: Layout
    code: str
    parts: Mapping[str, str] = field(default_factory=dict)
    begun: str = ""
    identity: str = ""
    asked: tuple[Asked, ...] = ()
    format: int = FORMAT

    @property
    def chunk_size(self) -> int:
        """Plans in a chunk of the newest stretch."""
        return self.layout.stretches[-1].chunk_size

    @property
    def first_variants(self) -> tuple[str, ...]:
        """The variants it was begun with."""
        return self.asked[0].variants if self.asked else self.spec.variants

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        return {
            "format": FORMAT,
            "identity": self.identity,
            "spec": self.spec.to_json(),
            "stretches": self.layout.to_json(),
            "asked": [asdict(asked) for asked in self.asked],
            "begun": self.begun,
            "code": self.code,
            "parts": dict(self.parts),
        }

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """The manifest of a campaign's folder, `None` if there is none.

        Raises:
            CampaignRefusedError: The file is there and cannot be read.
        """
        path = folder / MANIFEST
        try:
            content = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CampaignRefusedError(
                f"{path} is not a campaign's manifest ({error}); start over with --fresh."
            ) from error
        return cls.of(content, str(path))

    @classmethod
    def of(cls, content: bytes, path: str) -> Manifest:
        """Understand what a manifest's file has; `path` is what to call it.

        Raises:
            CampaignRefusedError: It is none.
        """
        try:
            return cls._of(path, json.loads(content.decode("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CampaignRefusedError(
                f"{path} is not a campaign's manifest ({error}); start over with --fresh."
            ) from error

    @classmethod
    def _of(cls, path: str, data: Any) -> Manifest:  # noqa: ANN401  whatever the file says
        format_ = data["format"] if isinstance(data, dict) and "spec" in data else None
        if format_ is not None and format_ not in READABLE:
            raise CampaignRefusedError(
                f"{path} has format {format_}, and this version reads {' and '.join(map(str, READABLE))}; "
                "read it with the version that wrote it."
            )
        spec = CampaignSpec.from_json(data["spec"])
        begun = str(data.get("begun", ""))
        if format_ == 1:
            layout = Layout(spec.variants, (Stretch(spec.plans, int(data["chunk_size"])),))
            return cls(spec, layout, str(data["code"]), begun=begun, format=1)
        return cls(
            spec,
            Layout.of(spec.variants, data["stretches"]),
            str(data["code"]),
            dict(data["parts"]),
            begun,
            str(data["identity"]),
            tuple(Asked(one["day"], one["plans"], tuple(one["variants"])) for one in data["asked"]),
        )

    def content(self) -> bytes:
        """What its file has."""
        return (json.dumps(self.to_json(), indent=1) + "\n").encode()

    def write(self, folder: Path) -> None:
        """Write the manifest, whole or not at all."""
        write_whole(self.content(), folder / MANIFEST)


def open_campaign(
    folder: Path,
    spec: CampaignSpec,
    *,
    chunk_size: int | None = None,
    fresh: bool = False,
    measured: Callable[[], int] | None = None,
) -> Manifest:
    """Begin the campaign in `folder`, or go on with it, or let it grow; half-written files of an earlier attempt are removed.

    It grows if `spec` has more plans or more variants than the folder's campaign, and is the same otherwise. The campaign's name is
    that which it was begun with, whatever its folder is called by now.

    Args:
        folder: Created if missing.
        spec: What to run.
        chunk_size: Plans per chunk; `None` takes what the folder was begun with, else what `measured` says.
        fresh: Throw away what the folder holds of the tables; runs that cannot be had again are moved aside, into `earlier`.
        measured: Says how many plans make a chunk, asked only where there are new ones; `DEFAULT_CHUNK_SIZE` without.

    Raises:
        CampaignRefusedError: The folder holds another spec, or results of other code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if fresh:
        clear(folder)
    parts = own_code_parts(spec.world)
    today = datetime.now(UTC).date().isoformat()
    earlier = Manifest.read(folder)
    if earlier is None:
        if any((folder / name).exists() for name in TABLES_OF_A_CAMPAIGN):
            raise CampaignRefusedError(f"{folder} holds tables without a manifest; start over with --fresh.")
        layout = Layout(spec.variants, (Stretch(spec.plans, chunk_size or _size(measured)),))
        asked = (Asked(today, spec.plans, spec.variants),)
        manifest = Manifest(spec, layout, code_digest(parts), parts, today, uuid.uuid4().hex, asked)
        manifest.write(folder)
        return manifest
    spec = replace(spec, name=earlier.spec.name)
    _refuse_change(folder, earlier, spec, chunk_size, parts)
    for name in TABLES_OF_A_CAMPAIGN:
        for leftover in (folder / name).rglob(".*.tmp"):
            leftover.unlink(missing_ok=True)
    if spec == earlier.spec:
        return earlier
    stretches = earlier.layout.stretches
    if spec.plans > earlier.spec.plans:
        size = chunk_size or _size(measured)
        stretches = (*stretches, Stretch(spec.plans - earlier.spec.plans, size))
    grown = replace(
        earlier,
        spec=spec,
        layout=Layout(spec.variants, stretches),
        asked=(*earlier.asked, Asked(today, spec.plans, spec.variants)),
    )
    grown.write(folder)
    return grown


def clear(folder: Path) -> Path | None:
    """Make room for another campaign. Runs that cannot be had again are moved aside, with all that belongs to them.

    Returns:
        Where they are now, a campaign's folder as before; None where nothing had to be kept.
    """
    names = [name for name in (MANIFEST, *TABLES_OF_A_CAMPAIGN, EVIDENCE) if (folder / name).exists()]
    if EVIDENCE not in names and not _is_imported(folder):
        for name in names:
            if name == MANIFEST:
                (folder / name).unlink()
            else:
                shutil.rmtree(folder / name)
        return None
    number = 1 + sum(1 for _ in folder.glob(f"{EARLIER}-*"))
    while (folder / f"{EARLIER}-{number}").exists():
        number += 1
    aside = folder / f"{EARLIER}-{number}"
    aside.mkdir()
    for name in names:
        (folder / name).rename(aside / name)
    return aside


def _is_imported(folder: Path) -> bool:
    """Whether it holds histories whose files may be gone."""
    try:
        manifest = Manifest.read(folder)
    except CampaignRefusedError:
        return False
    return manifest is not None and manifest.spec.world == IMPORTED


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system releases even if this process is killed.

    Raises:
        CampaignRefusedError: Another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CampaignRefusedError(f"Another campaign is running in {folder}.") from error
        yield


def _size(measured: Callable[[], int] | None) -> int:
    return measured() if measured is not None else DEFAULT_CHUNK_SIZE


def _refuse_change(
    folder: Path, earlier: Manifest, wanted: CampaignSpec, chunk_size: int | None, parts: Mapping[str, str]
) -> None:
    """Raise with the first difference that is not growth."""
    if earlier.format != FORMAT:
        raise CampaignRefusedError(
            f"The campaign in {folder} was written by an earlier version (format {earlier.format}), and can be read but "
            "not go on; choose another folder or start over with --fresh."
        )
    if earlier.spec.world == IMPORTED:
        raise CampaignRefusedError(
            f"{folder} holds imported histories, which are not run: tidemark import adds to them; choose another folder for a "
            "campaign."
        )
    if earlier.spec.cells != wanted.cells:
        raise CampaignRefusedError(
            f"{folder} holds {'a sweep of other cells' if earlier.spec.cells else 'a campaign that is no sweep'}; "
            "choose another folder or start over with --fresh."
        )
    before, now = earlier.spec.to_json(), wanted.to_json()
    for name in now:
        if name not in ("variants", "plans", "rules") and before[name] != now[name]:
            raise CampaignRefusedError(
                f"{folder} holds a campaign with {name} {before[name]!r}, not {now[name]!r}; "
                "choose another folder or start over with --fresh."
            )
    if lost := [rule.name for rule in earlier.spec.rules if rule.digest not in {one.digest for one in wanted.rules}]:
        raise CampaignRefusedError(
            f"{folder} holds a campaign with another truncation rule {lost[0]} than the file has now; "
            "choose another folder or start over with --fresh."
        )
    if wanted.plans < earlier.spec.plans:
        raise CampaignRefusedError(
            f"{folder} holds a campaign of {earlier.spec.plans} plans, not {wanted.plans}: it can grow, and not shrink; "
            "ask for as many or more, or choose another folder."
        )
    had = earlier.spec.variants
    if wanted.variants[: len(had)] != had:
        raise CampaignRefusedError(
            f"{folder} holds a campaign of the variants {', '.join(had)}: name them first and in this order, and new ones "
            "behind them, or choose another folder."
        )
    if chunk_size is not None and wanted.plans == earlier.spec.plans and chunk_size != earlier.chunk_size:
        raise CampaignRefusedError(
            f"{folder} was begun with {earlier.chunk_size} plans per chunk, not {chunk_size}; "
            "leave the size out or start over with --fresh."
        )
    names = changed(earlier.parts, parts)
    if names:
        more = f" and {len(names) - 1} more" if names[1:] else ""
        raise CampaignRefusedError(
            f"The code has changed since the campaign in {folder} was begun ({names[0]}{more}), so its runs could differ; "
            "choose another folder or start over with --fresh."
        )
