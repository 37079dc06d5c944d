"""Where ``tidemark compare`` runs in a campaign of several parts, and what of a part's settings need not be typed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tidemark.cli.refused import refused
from tidemark.cli.system_option import variants_had
from tidemark.nemesis import cluster_of_plans
from tidemark.nodes.core.cluster import ClusterSpec

if TYPE_CHECKING:
    from tidemark.harness.systems.system import System
    from tidemark.pipeline.folder.campaign_parts import Part, Place
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

TAKEN_OVER: Final = {"variants", "plans", "seed", "contract", "keep", "cluster", "workload", "intensity"}
"""Fields of a campaign's spec that a part has from the others, where nobody says what they are."""


def part_to_run(
    folder: Path, spec: CampaignSpec, system: System, said: set[str], *, fresh: bool
) -> tuple[Path, CampaignSpec, str]:
    """Which part of the folder's campaign is meant: its folder, its whole spec, and a sentence that says so.

    In a campaign of one part these are the folder and the spec as they were given, and no sentence.
    Of a part that is added, or goes on, what nobody typed is as in the part, or in the campaign's first.

    Args:
        folder: Of the whole campaign.
        spec: What is asked.
        system: What is to run.
        said: Fields of the spec that somebody typed.
        fresh: Whether what is there of the part is thrown away.

    Raises:
        click.ClickException: there is no place for it in the folder's campaign.
        click.UsageError: the part's system can express none of the campaign's variants.
    """
    from tidemark.pipeline.folder.campaign_parts import find_place, refuse_mixture, title_of

    named = {"profile", "world", "system"} & said
    if "system" in named:
        named.add("world")  # which follows from it
    with refused():
        place = find_place(folder, spec, named=named, fresh=fresh)
        if not place.others:
            return folder, spec, ""
        left_out: list[str] = []
        if place.folder != folder:
            spec, left_out = _as_in(place.part or place.others[0], place, spec, system, TAKEN_OVER - said)
        refuse_mixture(folder, place, spec, fresh=fresh)
    others = "; ".join(part.title for part in place.others)
    told = (
        f"{title_of(spec)} is the part in {place.folder}; {folder} also holds {others}"
        if place.part is not None
        else f"{folder} holds {others}; {title_of(spec)} is added to it, in {place.folder}"
    )
    without = f", without {', '.join(left_out)}, which {spec.system} cannot express" if left_out else ""
    return place.folder, spec, f"{told}{without}; tidemark report {folder} tells of all."


def _as_in(
    like: Part, place: Place, spec: CampaignSpec, system: System, untyped: set[str]
) -> tuple[CampaignSpec, list[str]]:
    """The spec with what nobody typed as another has it, and the variants that cannot be had."""
    if place.part is None and spec.world != like.spec.world:
        untyped = untyped - {"plans"}  # thousands in the simulator, ten in containers
    taken = {name: getattr(like.spec, name) for name in untyped}
    left_out: list[str] = []
    if place.part is None and "variants" in untyped:
        had = variants_had(system, like.spec.variants)
        left_out = [name for name in like.spec.variants if name not in had]
        taken["variants"] = tuple(dict.fromkeys(had.values()))
        if not taken["variants"]:
            raise click.UsageError(
                f"{spec.system} can express none of the campaign's variants, {', '.join(left_out)}: name others with --variants"
            )
    if place.part is None and "cluster" in untyped:
        cluster = ClusterSpec.from_json(dict(like.spec.cluster))
        taken["cluster"] = cluster_of_plans(spec.profile, cluster).to_json()
    return replace(spec, name=like.spec.name, **taken), left_out
