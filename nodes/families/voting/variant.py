"""What the variants of voting families have in common: switches that are fields, each with its word and its sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nodes.core.describe import Row
from nodes.core.recovery import RecoveryRules
from nodes.core.variant import VariantError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Option(NamedTuple):
    """A field of a variant that a modifier sets.

    Attributes:
        topic: what it is called.
        says: value → what is done then, as a sentence.
        words: modifier → the value that it sets.
    """

    topic: str
    says: Mapping[Any, str]
    words: Mapping[str, Any]


def switch(topic: str, on: str, off: str, *, turns_on: str = "", turns_off: str = "", default: bool) -> Any:  # noqa: ANN401 (a field)
    """A field that is on or off."""
    words = {word: value for word, value in ((turns_on, True), (turns_off, False)) if word}
    return field(default=default, metadata={"option": Option(topic, {True: on, False: off}, words)})


@dataclass(frozen=True, slots=True)
class VotingVariant:
    """How servers vote and write; immutable, comparable, and named so that it can be typed."""

    name: str
    up_to_date_votes: bool = switch(
        "votes (Raft, 5.4.1)",
        "A server votes only for a candidate whose log is at least as up to date as its own: a higher last generation, or the same "
        "and no shorter a log.",
        "A server votes for the first candidate of a generation that asks, whatever its log.",
        turns_off="vote-for-anyone",
        default=True,
    )
    remembers_votes: bool = switch(
        "votes over a crash",
        "Generation and vote are on disk before the vote is given.",
        "The generation is on disk, the vote is not: after a crash a server may vote again in the same generation.",
        turns_off="forget-votes",
        default=True,
    )
    syncs: bool = switch(
        "fsync",
        "What was appended is fsynced before anybody counts it.",
        "Nothing is fsynced: what was counted may be gone after a power loss.",
        turns_off="no-sync",
        default=True,
    )

    @property
    def contract(self) -> str:
        """What a majority has stays (docs/anomalies.md)."""
        return "majority"

    @property
    def has_epoch_cache(self) -> bool:
        """Each entry has its generation; there is no cache of where they begin."""
        return False

    @property
    def recovery(self) -> RecoveryRules:
        """As any log."""
        return RecoveryRules()

    @property
    def begins_with_no_op(self) -> bool:
        """Whether a leader that counts only entries of its own generation begins with one (Raft, 8)."""
        return False


V = TypeVar("V", bound=VotingVariant)


def options(kind: type[VotingVariant]) -> dict[str, Option]:
    """Field → what it switches."""
    return {f.name: f.metadata["option"] for f in fields(kind) if "option" in f.metadata}


def parse(text: str, presets: Mapping[str, V], bundles: Mapping[str, Mapping[str, Any]] = {}) -> V:
    """The variant a person typed.

    Args:
        text: a preset, followed by any number of ``+modifier``.
        presets: of the family.
        bundles: modifier → all that it sets at once.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    preset, *modifiers = text.strip().split("+")
    if preset not in presets:
        raise VariantError(f"unknown variant {preset!r}: known are {', '.join(presets)}")
    variant = presets[preset]
    words: dict[str, Mapping[str, Any]] = dict(bundles)
    for name, option in options(type(variant)).items():
        words |= {word: {name: value} for word, value in option.words.items()}
    for modifier in modifiers:
        if modifier not in words:
            raise VariantError(f"unknown modifier {modifier!r} of {preset}: use {', '.join(words)}")
        variant = replace(variant, **words[modifier])
    return replace(variant, name="+".join([preset, *modifiers]))


def describe(variant: VotingVariant) -> list[Row]:
    """Everything the variant does that another of its family may do otherwise."""
    rows = [Row(option.topic, option.says[getattr(variant, name)]) for name, option in options(type(variant)).items()]
    return [
        *rows,
        Row("promise", f"Losses are judged by the promise {variant.contract}, unless a run asks for another one."),
    ]


def modifiers(variant: VotingVariant) -> list[str]:
    """The words that say the same as the variant's name."""
    return [
        word
        for name, option in options(type(variant)).items()
        for word, value in option.words.items()
        if value == getattr(variant, name)
    ]
