"""Which variants a line of a script speaks about: ``kafka-0.10, kafka-2.0 to kafka-4.0, kafka-2.1+KAFKA-7164``."""

from __future__ import annotations

from tidemark.nodes.core.variant import PRESETS, VariantError
from tidemark.nodes.families import parse_variant

_ORDER = tuple(PRESETS)


def parse_variants(text: str) -> tuple[str, ...]:
    """The variants in a list; ``X to Y`` is every preset from one to the other in the order of Kafka's versions.

    Raises:
        ValueError: with one sentence.
    """
    names: list[str] = []
    for part in text.split(","):
        first, to, last = (word.strip() for word in part.partition(" to "))
        if not to:
            names.append(_checked(first))
            continue
        for end in (first, last):
            if end not in _ORDER:
                raise ValueError(
                    f"{end!r} is not a preset, and a range goes from preset to preset ({', '.join(_ORDER)})"
                )
        if _ORDER.index(first) > _ORDER.index(last):
            raise ValueError(f"{first} comes after {last}")
        names += _ORDER[_ORDER.index(first) : _ORDER.index(last) + 1]
    return tuple(dict.fromkeys(names))


def _checked(name: str) -> str:
    try:
        return parse_variant(name).name
    except VariantError as error:
        raise ValueError(str(error)) from error
