"""What a plan means to a family of protocols that is not Kafka's, as sentences: for one run, and for a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.nemesis.kinds import by_kind
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import family_of, parse_variant


def elsewise_in(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """What a run's own meta line says was left out of its plan, or put in something's place (docs/history.md)."""
    left_out = [f"left out: {sentence}" for sentence in meta.get("not_suffered", ())]
    return (*left_out, *(f"instead: {sentence}" for sentence in meta.get("counterparts", ())))


def elsewise_under(variants: Iterable[str]) -> list[str]:
    """What is left out of plans, or something else, under the variants whose family is not Kafka's; nothing if there are none."""
    names: dict[tuple[str, bool], list[str]] = {}
    families = {}
    for name in variants:
        try:
            family = family_of(parse_variant(name))
        except VariantError:  # brokers of a real Kafka, held to some protocol
            continue
        if not family.has_isr:
            key = (family.name, family.changes_members)
            names.setdefault(key, []).append(name)
            families[key] = family
    told = []
    for key, family in families.items():
        who = ", ".join(names[key])
        left_out = by_kind(family.not_suffered)
        told += [f"{who}: {kind} is left out: {why}" for kind, why in left_out.items()]
        waits = [event for event, instead in family.unheard.items() if not instead]
        told += [f"{who}: a fault that waits for {event} is left out: that never happens" for event in waits]
        instead = by_kind(family.counterparts)
        told += [f"{who}: {kind}: {what}" for kind, what in instead.items() if kind not in left_out]
    return told
