"""All families, and the variant that a person typed, of whichever family."""

from __future__ import annotations

import re

from tidemark.nodes.core.switches import VariantError
from tidemark.nodes.families.bookkeeper.family import BOOKKEEPER
from tidemark.nodes.families.family import AnyVariant, Family
from tidemark.nodes.families.kafka import KAFKA
from tidemark.nodes.families.outside import OUTSIDE
from tidemark.nodes.families.quorum.family import QUORUM
from tidemark.nodes.families.raft.family import RAFT
from tidemark.nodes.families.reconciliation.family import RECONCILIATION

FAMILIES: tuple[Family, ...] = (KAFKA, QUORUM, RAFT, RECONCILIATION, BOOKKEEPER)


def parse_variant(text: str) -> AnyVariant:
    """The variant a person typed: a preset of some family, followed by any number of ``+modifier``.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    preset = text.strip().split("+")[0]
    for family in FAMILIES:
        if preset in family.presets:
            return family.parse(text)
    known = ", ".join(name for family in FAMILIES for name in family.presets)
    raise VariantError(f"unknown variant {preset!r}{_release(preset)}: known are {known}")


def _release(name: str) -> str:
    """Which preset a release of Kafka goes by that has none of its own: the newest that is not newer."""
    number = re.fullmatch(r"kafka-(\d+)\.(\d+)(?:\.\d+)?", name)
    if number is None:
        return ""
    older = [
        tuple(map(int, one.removeprefix("kafka-").split(".")))
        for one in KAFKA.presets
        if re.fullmatch(r"kafka-\d+\.\d+", one)
    ]
    wanted = tuple(map(int, number.groups()))
    nearest = max((one for one in older if one <= wanted), default=min(older))
    return f" (Apache Kafka {name.removeprefix('kafka-')} goes by kafka-{nearest[0]}.{nearest[1]})"


def family_of(variant: AnyVariant) -> Family:
    """The family that a variant belongs to, as that variant has it."""
    return next(family for family in (*FAMILIES, OUTSIDE) if isinstance(variant, family.kind)).of(variant)
