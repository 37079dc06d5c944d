"""What repairs a bug of the zoo in any variant that has it."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.harness.zoo.entry import Entry, all_entries
from tidemark.nodes.core.variant import BUGS, SWITCHES, Variant, VariantError
from tidemark.nodes.families import parse_variant

NEXT_RULE = {"hw": "kip101", "kip101": "kip279"}
"""The truncation rule that repaired another one."""


def repairs(name: str, variant: Variant) -> Iterator[tuple[Entry, str]]:
    """Each bug that a variant has, and the name of the variant without it alone."""
    for entry in all_entries():
        if not entry.is_in(variant):
            continue
        if entry.variant == name:
            yield entry, entry.repaired
        word = _word(entry)
        if word and is_a_variant(f"{name}+{word}"):
            yield entry, f"{name}+{word}"


def _word(entry: Entry) -> str:
    """The modifier that repairs a bug; nothing if one alone does not."""
    (name, value), *others = entry.state.items()
    alone = entry.repaired.removeprefix(f"{entry.variant}+")
    if others and alone != entry.repaired:
        return "" if "+" in alone else alone
    if others and value is not False:  # what it needs is no bug
        return ""
    if name == "truncation":
        return f"truncation={NEXT_RULE[value]}" if value in NEXT_RULE else ""
    if name == "fence":
        return f"{value}-fence"
    if name == "bug":
        switch = BUGS[value].switches_off
        return SWITCHES[switch].word if switch else ""
    if name in SWITCHES and SWITCHES[name].word:
        return SWITCHES[name].word if value is False else f"no-{SWITCHES[name].word}"
    return ""


def is_a_variant(name: str) -> bool:
    """Whether a name can be parsed."""
    try:
        parse_variant(name)
    except VariantError:
        return False
    return True
