"""Which variants might get through a plan that another failed: that one with one thing repaired, or two, and later presets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tidemark.harness.zoo.entry import Entry, all_entries
from tidemark.harness.zoo.repairs import is_a_variant, repairs
from tidemark.nodes.core.describe import modifiers
from tidemark.nodes.core.variant import PRESETS, Variant
from tidemark.nodes.families import AnyVariant, parse_variant

ALL_REPAIRED = "kafka-4.0+forget-log-ends+rebuild-epochs+begin-anew+obey-last-order"
"""The last preset with the repairs of what today's Kafka still has (docs/findings)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A variant to try.

    Attributes:
        rank: 0: the repair of a bug that the failing variant is named for; 1: one switch, or two; 2: a later preset.
    """

    variant: str
    rank: int
    title: str
    wrong: str = ""
    entry: Entry | None = None


def candidates(name: str, anomaly: str = "") -> list[Candidate]:
    """What to try for a failing variant, in an order; each variant once, as the repair of a bug that shows by that anomaly."""
    variant = parse_variant(name)
    found = [*_without_a_modifier(name), *_other_families(name, variant)]
    if isinstance(variant, Variant):
        for entry, repaired in repairs(name, variant):
            title = f"it repairs {entry.key}: {entry.title}"
            found.append(Candidate(repaired, 0 if repaired == entry.repaired else 1, title, entry.wrong, entry))
        found += _later_presets(name)
    first: dict[str, Candidate] = {}
    for candidate in sorted(found, key=lambda one: (one.rank, not fits(one.entry, anomaly), _is_rare(one.entry))):
        first.setdefault(candidate.variant, candidate)
    return [one for one in first.values() if parse_variant(one.variant) != variant and one.variant != name]


def _is_rare(entry: Entry | None) -> bool:
    """Whether a bug is known to show only under faults that most plans have not: it would be taken for the cause by chance."""
    return entry is not None and entry.profile not in ("intact", "destructive")


def fits(entry: Entry | None, anomaly: str) -> bool:
    """Whether a bug is known to show by an anomaly."""
    return entry is not None and (not entry.anomalies or anomaly in entry.anomalies)


def pairs(name: str, alone: Sequence[Candidate]) -> Iterator[Candidate]:
    """The failing variant with two things repaired, of those that are not enough alone."""
    words = [(one, one.variant.removeprefix(f"{name}+")) for one in alone if one.variant.startswith(f"{name}+")]
    for (one, first), (other, second) in combinations(words, 2):
        both = f"{name}+{first}+{second}"
        if is_a_variant(both):
            title = f"two repairs, neither of which is enough alone: {_bug(one)}; {_bug(other)}"
            yield Candidate(both, 1, title, f"{one.wrong} {other.wrong}".strip())


def _bug(candidate: Candidate) -> str:
    return candidate.title.removeprefix("it repairs ")


def _without_a_modifier(name: str) -> Iterator[Candidate]:
    """The name without each of its modifiers."""
    base, *modifiers = name.split("+")
    for place, modifier in enumerate(modifiers):
        rest = "+".join([base, *modifiers[:place], *modifiers[place + 1 :]])
        entry = next((one for one in all_entries() if one.key == modifier), None)
        title = f"it repairs {modifier}: {entry.title}" if entry else f"it is without {modifier}"
        yield Candidate(rest, 0, title, entry.wrong if entry else "", entry)


def _other_families(name: str, variant: AnyVariant) -> Iterator[Candidate]:
    if isinstance(variant, Variant):
        return
    for modifier in modifiers(variant):
        word = modifier.removeprefix("no-")
        if word != modifier and is_a_variant(f"{name}+{word}"):
            yield Candidate(f"{name}+{word}", 1, f"with {word}")
    repaired = f"{name}+repaired"
    if is_a_variant(repaired):
        yield Candidate(repaired, 2, "with every repair of its page")


def _later_presets(name: str) -> Iterator[Candidate]:
    names = list(PRESETS)
    base = name.split("+", maxsplit=1)[0]
    for later in names[names.index(base) + 1 :] if base in names else ():
        yield Candidate(later, 2, "the next preset under which the same plan is valid")
    yield Candidate(ALL_REPAIRED, 2, "today's Kafka, with the repairs of what it still has")
