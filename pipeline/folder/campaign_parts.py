"""The parts of a campaign: the one it was begun with, in its folder; those of other profiles or systems lie below, in ``parts/``.

A part is a campaign whole: manifest, records and tables are its own, so it goes on, grows and is set right by itself, and a
campaign of one part is what it always was. Parts differ in profile, world and system, in what follows from these, and in how many
plans and which variants they have. All else is the same, or they would be another experiment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidemark.nemesis import cluster_of_plans
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.folder.code_digest import changed, own_code_parts
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest
from tidemark.pipeline.folder.tables import FORMAT, MANIFEST
from tidemark.pipeline.runs.campaign_spec import IMPORTED

if TYPE_CHECKING:
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

PARTS: Final = "parts"
APART: Final = ("profile", "world", "system")
"""The fields of a spec that tell a part from the others."""
SHARED: Final = ("seed", "contract", "keep", "workload", "intensity")
"""The same in all parts, and so is the cluster."""
OF_A_SYSTEM: Final = ("time_scale", "clients", "broker_config")
"""The same in all parts of one system."""
OWN: Final = "tidemark"


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its folder, below the campaign's as that was asked for, and what is there."""

    folder: Path
    manifest: Manifest

    @property
    def spec(self) -> CampaignSpec:
        """What it runs."""
        return self.manifest.spec

    @property
    def apart(self) -> dict[str, str]:
        """Profile, world and system."""
        return apart(self.spec)

    @property
    def title(self) -> str:
        """For a person."""
        return title_of(self.spec)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a spec belongs in a campaign: the folder of a part, which is `part` if it is there already, beside `others`."""

    folder: Path
    part: Part | None
    others: tuple[Part, ...]


def apart(spec: CampaignSpec) -> dict[str, str]:
    """Profile, world and system of a spec."""
    return {name: getattr(spec, name) for name in APART}


def title_of(spec: CampaignSpec) -> str:
    """A part in words: `destructive`, or `intact, kafka:4.3.1 in containers`."""
    return spec.profile if spec.world == "sim" else f"{spec.profile}, {spec.system} in containers"


def added_folders(folder: Path) -> list[Path]:
    """The folders of the parts that were added, by name."""
    try:
        return sorted(place for place in (folder / PARTS).iterdir() if (place / MANIFEST).is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []


def parts_of(folder: Path) -> list[Part]:
    """All parts of the campaign in a folder, first the one it was begun with, then by day and name; none if there is no campaign.

    Raises:
        CampaignRefusedError: A manifest cannot be read.
    """
    first = Manifest.read(folder)
    below = [Part(place, manifest) for place in added_folders(folder) if (manifest := Manifest.read(place)) is not None]
    below.sort(key=lambda part: (part.manifest.begun, part.folder.name))
    return ([] if first is None else [Part(folder, first)]) + below


def several_parts(folder: Path) -> list[Part]:
    """All parts of a campaign to which some were added; none of any other.

    Raises:
        CampaignRefusedError: A manifest cannot be read.
    """
    return parts_of(folder) if added_folders(folder) else []


def part_of(folder: Path) -> Path | None:
    """The folder of the campaign that a folder is a part of, None if it is none's."""
    folder = folder.resolve()
    whole = folder.parent.parent
    return whole if folder.parent.name == PARTS and (whole / MANIFEST).is_file() else None


def find_place(folder: Path, spec: CampaignSpec, *, named: Collection[str], fresh: bool) -> Place:
    """Where in the campaign of a folder a spec belongs: to the part of its profile, world and system, or to a new one.

    A part is added only if all that tells it from the first one was named by the person. If nothing was, or the folder holds
    imported histories, the place is the folder, and `open_campaign` says that it holds another campaign.

    Args:
        folder: The campaign's, which need not be there.
        spec: What is to run.
        named: Which of `APART` somebody asked for.
        fresh: The part is to be begun anew, and with it a campaign that has no other.

    Raises:
        CampaignRefusedError: There is no place for it.
    """
    _refuse_to_begin_in_a_part(folder, fresh=fresh)
    if fresh and not added_folders(folder):
        return Place(folder, None, ())
    parts = _readable_parts(folder) if fresh else parts_of(folder)
    mine = next((part for part in parts if part.apart == apart(spec)), None)
    others = tuple(part for part in parts if part is not mine)
    usual = folder / PARTS / _folder_name(spec)
    if fresh and mine is None and usual in added_folders(folder) and usual not in {part.folder for part in parts}:
        return Place(usual, None, others)  # its manifest cannot be read
    if mine is not None or not parts or parts[0].folder != folder:
        return Place(folder if mine is None else mine.folder, mine, others)
    if fresh:
        titles = "; ".join(part.title for part in parts)
        raise CampaignRefusedError(
            f"{folder} holds the parts {titles}, and --fresh begins one of them anew: leave it out to add "
            f"{title_of(spec)}, or choose another folder."
        )
    first = parts[0].spec
    differs = [name for name in APART if getattr(spec, name) != getattr(first, name)]
    if first.world == IMPORTED or not set(differs) & set(named):
        return Place(folder, None, ())
    for name in differs:
        if name not in named:
            raise CampaignRefusedError(
                f"{folder} holds a campaign with {name} {getattr(first, name)!r}, not {getattr(spec, name)!r}: to add a part, "
                f"say that with --{name} too, or choose another folder."
            )
    whole = part_of(folder)
    if whole is not None:
        raise CampaignRefusedError(f"{folder} is a part of the campaign in {whole}: give that folder to add another.")
    return Place(_free_folder(folder, parts, spec), None, others)


def _refuse_to_begin_in_a_part(folder: Path, *, fresh: bool) -> None:
    """See that a part is begun, and begun anew, by way of its campaign, which knows what it may be.

    Raises:
        CampaignRefusedError: It would be begun in its own folder.
    """
    whole = part_of(folder)
    if whole is not None and (fresh or not (folder / MANIFEST).is_file()):
        raise CampaignRefusedError(
            f"{folder} is for a part of the campaign in {whole}: give that folder, with the part's --profile or --system."
        )


def refuse_mixture(folder: Path, place: Place, spec: CampaignSpec, *, fresh: bool) -> None:
    """See that a part suits the others: settings that all share are the same, and a part that is added is run by the same code.

    Raises:
        CampaignRefusedError: It does not; says which setting is another, or that the code is.
    """
    if not place.others:
        return
    for other in place.others:
        before, now = _shared(other.spec, spec), _shared(spec, other.spec)
        for name, value in now.items():
            if before[name] != value:
                raise CampaignRefusedError(
                    f"{folder} holds a campaign with {name} {before[name]!r}, not {value!r}: its parts differ in profile and "
                    "system, and all else is the same; choose another folder."
                )
    other = place.others[0]
    if fresh or place.part is not None:  # whoever begins all parts anew must begin somewhere
        return
    if other.manifest.format != FORMAT:
        raise CampaignRefusedError(
            f"The campaign in {folder} was written by an earlier version (format {other.manifest.format}), and can be read "
            "but not grow; choose another folder."
        )
    mine, theirs = own_code_parts(spec.world), other.manifest.parts
    common = mine.keys() & theirs.keys()  # another world has other code besides
    names = changed({name: theirs[name] for name in common}, {name: mine[name] for name in common})
    if names:
        more = f" and {len(names) - 1} more" if names[1:] else ""
        raise CampaignRefusedError(
            f"The code has changed since the campaign in {folder} was begun ({names[0]}{more}), so its parts could differ by "
            "that; choose another folder."
        )


def _shared(spec: CampaignSpec, beside: CampaignSpec) -> dict[str, Any]:
    """What two parts have in common. Of the cluster this is what somebody asked for: some profiles want more brokers."""
    names = (*SHARED, *OF_A_SYSTEM) if (spec.world, spec.system) == (beside.world, beside.system) else SHARED
    cluster = cluster_of_plans(beside.profile, ClusterSpec.from_json(dict(spec.cluster))).to_json()
    flat = {name: value for name, value in cluster.items() if name != "settings"} | dict(cluster["settings"])
    return {name: getattr(spec, name) for name in names} | flat


def _readable_parts(folder: Path) -> list[Part]:
    """The parts whose manifests can be read, as `parts_of` has them."""
    found = []
    for place in (folder, *added_folders(folder)):
        with suppress(CampaignRefusedError):
            manifest = Manifest.read(place)
            if manifest is not None:
                found.append(Part(place, manifest))
    return found


def _folder_name(spec: CampaignSpec) -> str:
    """What tells of a part: `destructive`, `intact-docker`, `intact-kafka-4.3.1`."""
    system = "docker" if spec.system == OWN else re.sub(r"[^A-Za-z0-9.]+", "-", spec.system).strip("-.")
    return spec.profile if spec.world == "sim" else f"{spec.profile}-{system}"


def _free_folder(folder: Path, parts: Sequence[Part], spec: CampaignSpec) -> Path:
    name = _folder_name(spec)
    taken = {part.folder for part in parts}
    number = 1
    while (place := folder / PARTS / (name if number == 1 else f"{name}-{number}")) in taken:
        number += 1
    return place
