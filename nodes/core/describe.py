"""What a variant does, put together from what its options say of themselves (:mod:`tidemark.nodes.core.switches`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from tidemark.nodes.core.switches import Row, options


class Difference(NamedTuple):
    """One topic on which two variants differ; an empty sentence where one has nothing to say."""

    topic: str
    one: str
    other: str


def describe(variant: Any) -> list[Row]:  # noqa: ANN401 (a variant of any family)
    """Everything the variant does that another of its family may do otherwise, in an order for reading."""
    rows = [row for name, option in options(type(variant)).items() for row in option.rows(name, variant)]
    return [
        *rows,
        Row("promise", f"Losses are judged by the promise {variant.judged_by}, unless a run asks for another one."),
    ]


def differences(one: Any, other: Any) -> list[Difference]:  # noqa: ANN401 (the same)
    """The topics on which they differ, in the order of the descriptions."""
    first, second = dict(describe(one)), dict(describe(other))
    topics = dict.fromkeys((*first, *second))
    pairs = (Difference(topic, first.get(topic, ""), second.get(topic, "")) for topic in topics)
    return [pair for pair in pairs if pair.one != pair.other]


def modifiers(variant: Any) -> list[str]:  # noqa: ANN401 (the same)
    """The words that say the same as the variant's name; a bug that the design had is among them."""
    return [word for name, option in options(type(variant)).items() for word in option.words_of(name, variant)]
