"""What all runs came to, by system and profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidemark.harness.soak.kept_run import INVALID, MISSING, REFUSED, UNKNOWN, VALID, KeptRun


@dataclass(frozen=True, slots=True)
class Tally:
    """The runs of one system under one profile.

    Attributes:
        runs: that were carried out, or broke off: `valid`, `invalid` and `unknown` together.
        refused: cannot be carried out, and count nowhere else. missing: still to come.
        violations, near_misses, permitted: kind of anomaly → in how many runs.
        acked: records that were acknowledged. seconds: that all took.
    """

    system: str
    profile: str
    runs: int
    valid: int
    invalid: int
    unknown: int
    refused: int
    missing: int
    violations: dict[str, int]
    near_misses: dict[str, int]
    permitted: dict[str, int]
    acked: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: getattr(self, name) for name in self.__slots__}


def tally(runs: Iterable[KeptRun]) -> list[Tally]:
    """Count, in the order in which systems and profiles come."""
    by_place: dict[tuple[str, str], list[KeptRun]] = {}
    for run in runs:
        by_place.setdefault((run.system, run.profile), []).append(run)
    return [_tally(system, profile, found) for (system, profile), found in by_place.items()]


def _tally(system: str, profile: str, runs: list[KeptRun]) -> Tally:
    verdicts = Counter(run.valid for run in runs)
    return Tally(
        system=system,
        profile=profile,
        runs=verdicts[VALID] + verdicts[INVALID] + verdicts[UNKNOWN],
        valid=verdicts[VALID],
        invalid=verdicts[INVALID],
        unknown=verdicts[UNKNOWN],
        refused=verdicts[REFUSED],
        missing=verdicts[MISSING],
        violations=dict(sorted(Counter(kind for run in runs for kind in run.violations).items())),
        near_misses=dict(sorted(Counter(kind for run in runs for kind in run.near_misses).items())),
        permitted=dict(sorted(Counter(kind for run in runs for kind in run.permitted).items())),
        acked=sum(run.acked for run in runs),
        seconds=sum(run.seconds for run in runs),
    )


def listed(kinds: dict[str, int]) -> str:
    """``lost-committed-write 2, stuck 1``; ``none``."""
    return ", ".join(f"{kind} {runs}" for kind, runs in kinds.items()) or "none"
