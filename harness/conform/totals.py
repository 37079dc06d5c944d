"""How all pairs came out, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from tidemark.harness.conform.kept_pair import CANNOT, EQUAL, EXPLAINED, FAILED, MISSING, UNEXPLAINED, KeptPair
from tidemark.harness.conform.known_difference import KnownDifference


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of pairs.

    Attributes:
        pairs: those that can be played; the sum of the next two and `played`.
        failed: could not be carried out. missing: were not played yet.
        played: the sum of `equal`, `explained` and `unexplained`.
        cannot: cannot be played, and count nowhere else.
        tries: plays that were carried out, of all pairs.
    """

    pairs: int
    played: int
    equal: int
    explained: int
    unexplained: int
    failed: int
    missing: int
    cannot: int
    tries: int

    def to_json(self) -> dict[str, int]:
        """Plain JSON data."""
        return asdict(self)


def totals(kept: Sequence[KeptPair], findings: Iterable[KnownDifference]) -> Totals:
    """Count."""
    findings = tuple(findings)
    found = Counter(one.standing(findings) for one in kept)
    return Totals(
        pairs=len(kept) - found[CANNOT],
        played=found[EQUAL] + found[EXPLAINED] + found[UNEXPLAINED],
        equal=found[EQUAL],
        explained=found[EXPLAINED],
        unexplained=found[UNEXPLAINED],
        failed=found[FAILED],
        missing=found[MISSING],
        cannot=found[CANNOT],
        tries=sum(len(one.tries) for one in kept),
    )


def not_shown(kept: Sequence[KeptPair], findings: Iterable[KnownDifference]) -> list[KnownDifference]:
    """Known differences that should have shown in what was played, and did not."""
    findings = tuple(findings)
    shown = {one.finding for pair in kept for one in pair.differences(findings) if one.finding is not None}
    return [one for one in findings if one not in shown and any(pair.could_show(one) for pair in kept)]
