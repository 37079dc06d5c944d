"""A variant without bugs that are known, so that a search of it ends on one that is not."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.harness.zoo.entry import Entry, ZooError, find
from tidemark.harness.zoo.repairs import repairs
from tidemark.nodes.core.variant import parse_variant

KNOWN = "known"
"""In place of keys: all that an exhaustive search comes to by itself, and that the variant has by design."""


def past(name: str, keys: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The variant's name with the repairs of these bugs, as its modifiers; and each bug's key → its repair.

    Bugs that a modifier of the variant puts back are no part of `KNOWN`: somebody asked for them. A truncation rule of one's own is
    no known bug either, whatever its flaw: it stays.

    Raises:
        ZooError: there is no such bug, the variant does not have it, or no modifier alone repairs it.
    """
    words: dict[str, str] = {}
    preset = parse_variant(name.partition("+")[0])
    asked_for = {one.key for one, _ in repairs(name, parse_variant(name)) if not one.is_in(preset)}
    for key in keys:
        if key != KNOWN:
            entry = find(key)
            if entry.key not in words:
                name, words[entry.key] = _without(name, entry)
    if KNOWN in keys:
        while found := next((one for one in _repaired(name) if one[0].explore and one[0].key not in asked_for), None):
            name, words[found[0].key] = _without(name, found[0])
    return name, words


def _repaired(name: str) -> list[tuple[Entry, str]]:
    """Bugs of the variant that one more modifier repairs."""
    return [one for one in repairs(name, parse_variant(name)) if one[1].startswith(f"{name}+")]


def _without(name: str, entry: Entry) -> tuple[str, str]:
    """The variant with the repair of one bug, and the repair."""
    repaired = next((repaired for one, repaired in _repaired(name) if one == entry), None)
    if repaired is None:
        others = ", ".join(dict.fromkeys(one.key for one, _ in _repaired(name))) or "none"
        raise ZooError(f"{entry.key} cannot be passed over under {name}, only: {others}")
    return repaired, repaired.removeprefix(f"{name}+")
