"""Which violations of a run are findings that are known, and which are not."""

from __future__ import annotations

from typing import Any, NamedTuple

from tidemark.checkers import History, Verdict
from tidemark.checkers.verdict.alike import alike
from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.harness.search.findings.finding import Finding
from tidemark.harness.search.findings.findings import known
from tidemark.harness.search.shrink.cause import causes_of


class Recognised(NamedTuple):
    """A finding, and the names of the anomalies in which a run shows it."""

    finding: Finding
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """In a line."""
        return f"{', '.join(self.names)}: {self.finding.words}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        one = self.finding
        return {"title": one.title, "page": one.page, "repair": one.repair, "anomalies": list(self.names)}


def recognised(variant: str, verdict: Verdict, history: History) -> tuple[Recognised, ...]:
    """What of a run's violations is known: by the causes of the first of each sentence. Of clients alone nothing is."""
    found: dict[Finding, dict[str, None]] = {}
    violations = [one for one in verdict.anomalies if one.verdict == VIOLATION] if history.trace else []
    for group in alike(violations):
        for cause in causes_of(group.first, verdict, history):
            finding = known(variant, cause)
            if finding is not None:
                found.setdefault(finding, {})[cause.name] = None
    return tuple(Recognised(finding, tuple(names)) for finding, names in found.items())
