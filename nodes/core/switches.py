"""What a variant can be told to do or not: fields, each with its words and its sentences; how they are typed and described.

A variant is a frozen dataclass. A field of it that a person may set has an :class:`Option`: which modifiers set it, and what is
said of its value. :func:`switch` and :func:`choice` make such fields; all else (parsing, descriptions, modifiers, the tables of
``docs/protocol.md``) goes by them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol, TypeVar


class VariantError(ValueError):
    """The text does not name a variant; the message says what would."""


class Row(NamedTuple):
    """One thing a variant does."""

    topic: str
    sentence: str


class Need(NamedTuple):
    """What a variant must be like for an option to have anything to do."""

    words: str
    is_met: Callable[[Any], bool]

    def or_idle(self, variant: Any, sentence: str) -> str:  # noqa: ANN401 (a variant of any family)
        """The sentence, unless there is nothing to do."""
        return sentence if self.is_met(variant) else f"Nothing to do: it takes {self.words}."


NOTHING = Need("", lambda _: True)


class Option(Protocol):
    """A field of a variant that modifiers set."""

    @property
    def words(self) -> Collection[str]:
        """The modifiers that set it, as far as a refusal names them."""

    def rows(self, name: str, variant: Any) -> list[Row]:  # noqa: ANN401 (a variant of any family)
        """What is said of a variant whose field has this name."""

    def words_of(self, name: str, variant: Any) -> list[str]:  # noqa: ANN401 (the same)
        """The modifiers that say what the variant has."""

    def changes(self, name: str, variant: Any, modifier: str) -> Mapping[str, Any] | None:  # noqa: ANN401 (the same)
        """The fields that a modifier changes; None: it is none of this option's."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values.

    Attributes:
        topic: what it is called.
        says: value → what is done then, as a sentence.
        words: modifier → the value that it sets. unlisted: those that no description lists.
        need: without it there is nothing to do.
    """

    topic: str
    says: Mapping[Any, str]
    words: Mapping[str, Any]
    unlisted: Mapping[str, Any] = field(default_factory=dict)
    need: Need = NOTHING

    def rows(self, name: str, variant: Any) -> list[Row]:  # noqa: ANN401 (a variant of any family)
        """The sentence of its value."""
        return [Row(self.topic, self.need.or_idle(variant, self.says[getattr(variant, name)]))]

    def words_of(self, name: str, variant: Any) -> list[str]:  # noqa: ANN401 (the same)
        """The words of its value."""
        return [word for word, value in self.words.items() if value == getattr(variant, name)]

    def changes(self, name: str, _variant: Any, modifier: str) -> Mapping[str, Any] | None:  # noqa: ANN401 (the same)
        """Each word sets this field."""
        words = {**self.words, **self.unlisted}
        return {name: words[modifier]} if modifier in words else None


class Switch(Choice):
    """On or off."""

    __slots__ = ()

    @property
    def on(self) -> str:
        """What happens with it."""
        return self.says[True]

    @property
    def off(self) -> str:
        """What happens without."""
        return self.says[False]

    @property
    def word(self) -> str:
        """The modifier that turns it on; empty: there is none."""
        return next((word for word, value in self.words.items() if value), "")


def switch(  # a field, as dataclasses' own is
    topic: str,
    on: str,
    off: str,
    *,
    default: bool,
    word: str = "",
    turns_on: str = "",
    turns_off: str = "",
    need: Need = NOTHING,
) -> Any:  # noqa: ANN401 (a field)
    """A field that is on or off.

    Args:
        topic: what it is called.
        on: what happens with it.
        off: what happens without.
        default: of the presets that say nothing of it.
        word: turns it on as a modifier, and with ``no-`` before off; off is what descriptions need not say.
        turns_on: a modifier that has no opposite.
        turns_off: the same.
        need: without it there is nothing to do.
    """
    words = {name: value for name, value in ((word or turns_on, True), (turns_off, False)) if name}
    option = Switch(topic, {True: on, False: off}, words, {f"no-{word}": False} if word else {}, need)
    return field(default=default, metadata={"option": option})


def choice(option: Option, default: Any = MISSING) -> Any:  # noqa: ANN401 (a field of any type)
    """A field that has more to say than yes or no."""
    return field(default=default, metadata={"option": option})


def options(kind: type[Any]) -> dict[str, Option]:
    """Field → what it switches."""
    return {f.name: f.metadata["option"] for f in fields(kind) if "option" in f.metadata}


V = TypeVar("V")


def all_words(preset: str, words: Sequence[str]) -> str:
    """What a refusal says of the modifiers there are, unless a family has its own way."""
    return f" of {preset}: use {', '.join(words)}"


def parse(
    text: str,
    presets: Mapping[str, V],
    bundles: Mapping[str, Mapping[str, Any]] = {},
    known: Callable[[str, Sequence[str]], str] = all_words,
) -> V:
    """The variant a person typed.

    Args:
        text: a preset, followed by any number of ``+modifier``.
        presets: of the family.
        bundles: modifier → all that it sets at once.
        known: says, after an unknown modifier, what would be one; it is given the preset, and all words.

    Raises:
        VariantError: with one sentence that lists what is possible.
    """
    preset, *modifiers = text.strip().split("+")
    if preset not in presets:
        raise VariantError(f"unknown variant {preset!r}: known are {', '.join(presets)}")
    variant: Any = presets[preset]
    its_options = options(type(variant)).items()
    for modifier in modifiers:
        found = (option.changes(name, variant, modifier) for name, option in its_options)
        changes = bundles.get(modifier) or next((changes for changes in found if changes is not None), None)
        if changes is None:
            words = [*bundles, *(word for _, option in its_options for word in option.words)]
            raise VariantError(f"unknown modifier {modifier!r}{known(preset, words)}")
        variant = replace(variant, **changes)
    named: V = replace(variant, name="+".join([preset, *modifiers]))
    return named
