"""What is known of a variant before anybody hunts in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tidemark.harness.search.corpus import KeptPlan
from tidemark.harness.search.findings import FINDINGS
from tidemark.harness.search.hunt.known import Known, Repair
from tidemark.harness.zoo.repairs import repairs
from tidemark.nodes.core.variant import BUNDLES, Variant
from tidemark.nodes.core.variant import parse_variant as parse_kafka
from tidemark.nodes.families import parse_variant

_BOUNCES = (
    "failover-sees-bounces",
    "a broker that stops and starts while there is no controller is taken for one that was there",
)
"""What repairs something that neither the zoo nor a page of the findings has."""


def known_of(name: str, kept: Iterable[KeptPlan] = (), hunted: Callable[[str], bool] = lambda _: False) -> Known:
    """What is known of a variant: the bugs of the zoo that it has by design, and what kept plans show in it.

    Bugs that were put back by a modifier are what is hunted: somebody asked for them. So is whatever ``hunted`` says of a repaired
    variant's name.
    """
    variant = parse_variant(name)
    found = dict(_of_the_zoo(name, variant)) if isinstance(variant, Variant) else {}
    causes = {}
    for one in kept:
        if one.variant != name or one.cause is None:
            continue
        if one.repaired is None:
            causes[one.cause.name, "; ".join(one.cause.facts)] = f"kept as {one.name}"
        elif one.repaired not in found:
            found[one.repaired] = f"kept as {one.name}"
    found = {repaired: title for repaired, title in found.items() if not hunted(repaired)}
    words = [repaired.removeprefix(f"{name}+") for repaired in found if repaired.startswith(f"{name}+")]
    preset, *modifiers = name.split("+")
    repaired = "+".join([name, *words]) if words else ""
    if repaired and isinstance(variant, Variant):
        repaired = _repaired_too(repaired, variant, hunted)
    return Known(
        tuple(Repair(*one) for one in found.items()),
        repaired,
        preset if {*modifiers} - _words_that_repair(preset) else "",
        tuple(causes.items()),
    )


def _words_that_repair(preset: str) -> set[str]:
    """The modifiers that take something known away from a preset, and add nothing."""
    variant = parse_variant(preset)
    known = dict(_of_the_zoo(preset, variant)) if isinstance(variant, Variant) else {}
    return {*BUNDLES, *(word for repaired in known for word in repaired.split("+")[1:])}


def _repaired_too(name: str, variant: Variant, hunted: Callable[[str], bool]) -> str:
    """The repaired variant, without the bugs that the repairs brought: Kafka's first one of a bug may have had another."""
    for entry, repaired in repairs(name, parse_kafka(name)):
        if not (entry.is_in(variant) or entry.is_in(parse_kafka(repaired)) or hunted(repaired)):
            return _repaired_too(repaired, variant, hunted)
    return name


def _of_the_zoo(name: str, variant: Variant) -> Iterator[tuple[str, str]]:
    preset = parse_variant(name.partition("+")[0])
    for entry, repaired in repairs(name, variant):
        if repaired.startswith(f"{name}+") and isinstance(preset, Variant) and entry.is_in(preset):
            yield repaired, f"{entry.key}: {entry.title}"
    pages = ((one.repair, one.words) for one in FINDINGS if one.repair and one.of(variant))
    for word, title in (*pages, _BOUNCES):
        if word not in name.split("+"):
            yield f"{name}+{word}", title
