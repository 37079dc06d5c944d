"""Switches of variants: fields, each with its words and its sentences; how they are typed and described."""

from __future__ import annotations

from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tidemark.nodes.core.describe import Row
from tidemark.nodes.core.variant import VariantError

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


V = TypeVar("V")


def options(kind: type[Any]) -> dict[str, Option]:
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
    variant: Any = presets[preset]
    words: dict[str, Mapping[str, Any]] = dict(bundles)
    for name, option in options(type(variant)).items():
        words |= {word: {name: value} for word, value in option.words.items()}
    for modifier in modifiers:
        if modifier not in words:
            raise VariantError(f"unknown modifier {modifier!r} of {preset}: use {', '.join(words)}")
        variant = replace(variant, **words[modifier])
    named: V = replace(variant, name="+".join([preset, *modifiers]))
    return named


def describe(variant: Any) -> list[Row]:  # noqa: ANN401 (a variant of any family)
    """Everything the variant does that another of its family may do otherwise."""
    rows = [Row(option.topic, option.says[getattr(variant, name)]) for name, option in options(type(variant)).items()]
    return [
        *rows,
        Row("promise", f"Losses are judged by the promise {variant.contract}, unless a run asks for another one."),
    ]


def modifiers(variant: Any) -> list[str]:  # noqa: ANN401 (the same)
    """The words that say the same as the variant's name."""
    return [
        word
        for name, option in options(type(variant)).items()
        for word, value in option.words.items()
        if value == getattr(variant, name)
    ]
