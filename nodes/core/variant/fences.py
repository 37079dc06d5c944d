"""KIP-320's four fences, of which a variant has any."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from tidemark.nodes.core.switches import NOTHING, Need, Row
from tidemark.nodes.core.variant.rule_option import ASKS


class Fence(StrEnum):
    """KIP-320's four fences, each with what happens with it and without."""

    __hash__ = str.__hash__  # an enum's own is Python

    need: Need
    on: str
    off: str

    FETCH = (
        "fetch",
        "A leader refuses a fetch of another leader epoch (FENCED_LEADER_EPOCH if older, UNKNOWN_LEADER_EPOCH if newer).",
        "A leader answers a fetch whatever leader epoch the follower is in.",
    )
    TRUNCATION = (
        "truncation",
        "A leader refuses the question where an epoch ends from a follower that is in another leader epoch.",
        "A leader says where an epoch ends whatever leader epoch the follower is in.",
        ASKS,
    )
    HW = (
        "hw",
        "A leader counts a fetch as progress, for high watermark and ISR, only if it is of its own leader epoch.",
        "A leader counts every fetch it does not refuse as progress.",
    )
    ISR = (
        "isr",
        "The ISR expands only to a follower whose last fetch was of the leader's epoch.",
        "The ISR expands to a caught-up follower whatever leader epoch it fetched in.",
    )

    def __new__(cls, word: str, on: str, off: str, need: Need = NOTHING) -> Self:
        """A word that knows its sentences."""
        fence = str.__new__(cls, word)
        fence._value_ = word
        fence.on, fence.off, fence.need = on, off, need
        return fence


ALL_FENCES = frozenset(Fence)
_ADDS = {"all-fences": ALL_FENCES} | {f"{fence}-fence": frozenset({fence}) for fence in Fence}
_TAKES = {f"no-{word.removeprefix('all-')}": fences for word, fences in _ADDS.items()}


class FencesOption:
    """All, none, or each by its word: ``FENCE-fence``, ``no-FENCE-fence``."""

    words = ("no-fences", "all-fences", *(f"no-{fence}-fence" for fence in Fence))
    """Those that a refusal names."""

    def rows(self, name: str, variant: Any) -> list[Row]:  # noqa: ANN401 (as an option has it)
        """One for each fence."""
        has = getattr(variant, name)
        return [Row(f"fence: {f}", f.need.or_idle(variant, f.on if f in has else f.off)) for f in Fence]

    def words_of(self, name: str, variant: Any) -> list[str]:  # noqa: ANN401 (the same)
        """One word where that is enough."""
        has = getattr(variant, name)
        return ["all-fences"] if has == ALL_FENCES else [f"{f}-fence" for f in Fence if f in has] or ["no-fences"]

    def changes(self, name: str, variant: Any, modifier: str) -> Mapping[str, Any] | None:  # noqa: ANN401 (the same)
        """One fence more, or one less, or all at once."""
        if modifier in _ADDS:
            return {name: getattr(variant, name) | _ADDS[modifier]}
        return {name: getattr(variant, name) - _TAKES[modifier]} if modifier in _TAKES else None
