"""Where ``tidemark compare`` runs in a campaign of several parts, and what of a part's settings need not be typed again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from tidemark.cli.options import CLUSTER_OPTIONS
from tidemark.cli.workload_options import WORKLOAD_OPTIONS
from tidemark.nemesis import cluster_of_plans
from tidemark.nodes.core.cluster import ClusterSpec

if TYPE_CHECKING:
    from tidemark.harness.systems.system import System
    from tidemark.nodes.families import AnyVariant
    from tidemark.pipeline.folder.campaign_parts import Part, Place
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

TYPED_AS: Final = {
    "variants": ("variants",),
    "plans": ("plans",),
    "seed": ("seed",),
    "contract": ("contract",),
    "keep": ("keep",),
    "cluster": CLUSTER_OPTIONS,
    "workload": WORKLOAD_OPTIONS,
}
"""Field of a campaign's spec → the options that say it."""


def part_to_run(
    folder: Path, spec: CampaignSpec, options: dict[str, Any], system: System
) -> tuple[Path, CampaignSpec, str]:
    """Which part of the folder's campaign is meant: its folder, its whole spec, and a sentence that says so.

    In a campaign of one part these are the folder and the spec as they were given, and no sentence.
    Of a part that is added, or goes on, what nobody typed is as in the part, or in the campaign's first.

    Raises:
        click.ClickException: there is no place for it in the folder's campaign.
        click.UsageError: the part's system can express none of the campaign's variants.
    """
    from tidemark.pipeline.folder.campaign_parts import find_place, refuse_mixture, title_of
    from tidemark.pipeline.folder.manifest import CampaignRefusedError

    named = {name for name in ("profile", "world", "system") if _is_typed(name)}
    if "system" in named:
        named.add("world")  # which follows from it
    try:
        place = find_place(folder, spec, named=named, fresh=options["fresh"])
        if not place.others:
            return folder, spec, ""
        left_out: list[str] = []
        if place.folder != folder:
            spec, left_out = _as_in(place.part or place.others[0], place, spec, system)
        refuse_mixture(folder, place, spec, fresh=options["fresh"])
    except CampaignRefusedError as error:
        raise click.ClickException(str(error)) from None
    others = "; ".join(part.title for part in place.others)
    told = (
        f"{title_of(spec)} is the part in {place.folder}; {folder} also holds {others}"
        if place.part is not None
        else f"{folder} holds {others}; {title_of(spec)} is added to it, in {place.folder}"
    )
    without = f", without {', '.join(left_out)}, which {spec.system} cannot express" if left_out else ""
    return place.folder, spec, f"{told}{without}; tidemark report {folder} tells of all."


def _as_in(like: Part, place: Place, spec: CampaignSpec, system: System) -> tuple[CampaignSpec, list[str]]:
    """The spec with what nobody typed as another has it, and the variants that cannot be had."""
    untyped = {name for name, options in TYPED_AS.items() if not any(map(_is_typed, options))}
    if place.part is None and spec.world != like.spec.world:
        untyped.discard("plans")  # thousands in the simulator, ten in containers
    taken = {name: getattr(like.spec, name) for name in untyped}
    left_out: list[str] = []
    if place.part is None and "variants" in untyped:
        kept = {name: _variant_on(system, name) for name in like.spec.variants}
        left_out = [name for name, variant in kept.items() if variant is None]
        taken["variants"] = tuple(dict.fromkeys(variant.name for variant in kept.values() if variant is not None))
        if not taken["variants"]:
            raise click.UsageError(
                f"{spec.system} can express none of the campaign's variants, {', '.join(left_out)}: name others with --variants"
            )
    if place.part is None and "cluster" in untyped:
        cluster = ClusterSpec.from_json(dict(like.spec.cluster))
        taken["cluster"] = cluster_of_plans(spec.profile, cluster).to_json()
    return replace(spec, name=like.spec.name, **taken), left_out


def _variant_on(system: System, name: str) -> AnyVariant | None:
    from tidemark.harness.systems.system import SystemRefusalError
    from tidemark.nodes.core.variant import VariantError

    with suppress(SystemRefusalError, VariantError):
        return system.variant(name)
    return None


def _is_typed(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
