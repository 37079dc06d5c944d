"""Variants: which truncation rule, which fences, which later rules a cluster runs, and the presets that Kafka shipped.

A variant is written as a preset and modifiers, joined by ``+``::

    kafka-2.1                       the design of inter-broker version 2.1
    kafka-2.1+no-fetch-fence        without one of KIP-320's four fences
    kafka-2.1+KAFKA-7128            with a bug put back
    kafka-2.0+truncation=fetch      with another truncation rule

Sources: KIP-101, KIP-279, KIP-320, KIP-380, KIP-595 (truncate on fetch), KIP-841, KIP-903, KIP-966, KAFKA-15583.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

FENCES = ("fetch", "truncation", "hw", "isr")
"""KIP-320: fetch carries the leader epoch; truncation requests carry it; the leader counts a follower for the HW, and for
ISR expansion, only in its own epoch."""

TRUNCATION_RULES = ("hw", "kip101", "kip279", "fetch")

BUGS = {
    "KAFKA-7128": "the ISR may expand to a follower below the leader's epoch start",
    "KAFKA-7164": "a follower restarts fetching only if the leader id changed, so it misses a re-elected leader's epoch",
    "KAFKA-7415": "a new leader does not put its epoch into the cache before it has a record of it",
    "KAFKA-13141": "the leader counts a diverging fetch as progress of the follower",
    "KAFKA-14704": "a follower takes the high watermark of a diverging fetch response",
    "KAFKA-10706": "truncation leaves epochs without records at the end of the cache",
}
"""Bugs that can be put back, with what goes wrong (PROTOCOL section 10)."""


class VariantError(ValueError):
    """The text does not name a variant; the message says what would."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One point in the space of protocols; immutable, comparable, and named so that it can be typed."""

    name: str
    truncation: str
    fences: frozenset[str] = frozenset()
    bounce_detection: bool = False
    """KIP-380: a restarted broker is handled as failed first, and stale controller requests are refused."""
    min_isr_gates_hw: bool = False
    """KAFKA-15583: no HW advance while the ISR is smaller than min.insync.replicas."""
    broker_epoch_checks: bool = False
    """KIP-841/903: AlterPartition and fetches name the broker epoch they speak for."""
    elr: bool = False
    """KIP-966: eligible leader replicas."""
    epoch_on_lead: bool = True
    """KAFKA-7415: the leader assigns its epoch when it becomes leader, not at its first append."""
    restart_on_epoch: bool = True
    """KAFKA-7164: followers restart fetching whenever the leader epoch rises."""
    bugs: frozenset[str] = frozenset()

    @property
    def contract(self) -> str:
        """The promise this design makes unless the run asks for another one (see docs/anomalies.md)."""
        return "kip-966" if self.elr else "documented"

    @property
    def has_epoch_cache(self) -> bool:
        """False for the designs before KIP-101, which keep no leader epochs."""
        return self.truncation != "hw"


_ALL = frozenset(FENCES)
PRESETS: dict[str, Variant] = {
    v.name: v
    for v in (
        Variant("kafka-0.10", "hw", restart_on_epoch=False),
        Variant("kafka-0.11", "kip101", epoch_on_lead=False),
        Variant("kafka-2.0", "kip279"),
        Variant("kafka-2.1", "kip279", _ALL),
        Variant("kafka-2.7", "fetch", _ALL, bounce_detection=True),
        Variant("kafka-3.7", "fetch", _ALL, bounce_detection=True, min_isr_gates_hw=True, broker_epoch_checks=True),
        Variant(
            "kafka-4.0", "fetch", _ALL, bounce_detection=True, min_isr_gates_hw=True, broker_epoch_checks=True, elr=True
        ),
    )
}

_SWITCHES = ("bounce-detection", "min-isr-gate", "broker-epochs", "elr")
_SWITCH_FIELD = dict(
    zip(_SWITCHES, ("bounce_detection", "min_isr_gates_hw", "broker_epoch_checks", "elr"), strict=True)
)


def parse_variant(text: str) -> Variant:
    """The variant a person typed.

    Args:
        text: a preset, followed by any number of ``+modifier``: ``no-fences``, ``all-fences``, ``no-FENCE-fence``,
            ``FENCE-fence``, ``truncation=RULE``, ``KAFKA-NNNN``, ``elr``, ``no-elr`` and the other switches.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    preset, *modifiers = text.strip().split("+")
    if preset not in PRESETS:
        msg = f"unknown variant {preset!r}: known are {', '.join(PRESETS)}"
        raise VariantError(msg)
    variant = PRESETS[preset]
    for modifier in modifiers:
        variant = _modified(variant, modifier)
    return replace(variant, name="+".join([preset, *modifiers]))


def _modified(variant: Variant, modifier: str) -> Variant:
    if modifier in BUGS:
        return replace(
            variant,
            bugs=variant.bugs | {modifier},
            restart_on_epoch=variant.restart_on_epoch and modifier != "KAFKA-7164",
            epoch_on_lead=variant.epoch_on_lead and modifier != "KAFKA-7415",
        )
    if modifier == "no-fences":
        return replace(variant, fences=frozenset())
    if modifier == "all-fences":
        return replace(variant, fences=_ALL)
    if modifier.startswith("truncation=") and modifier.removeprefix("truncation=") in TRUNCATION_RULES:
        return replace(variant, truncation=modifier.removeprefix("truncation="))
    wanted = not modifier.startswith("no-")
    word = modifier.removeprefix("no-")
    if word.removesuffix("-fence") in FENCES and word.endswith("-fence"):
        fence = {word.removesuffix("-fence")}
        return replace(variant, fences=variant.fences | fence if wanted else variant.fences - fence)
    if word in _SWITCH_FIELD:
        switch: dict[str, Any] = {_SWITCH_FIELD[word]: wanted}
        return replace(variant, **switch)
    fences = ", ".join(f"no-{f}-fence" for f in FENCES)
    msg = (
        f"unknown modifier {modifier!r}: use no-fences, all-fences, {fences}, "
        f"truncation={'|'.join(TRUNCATION_RULES)}, {', '.join(_SWITCHES)} (or no-…), or a bug: {', '.join(BUGS)}"
    )
    raise VariantError(msg)
