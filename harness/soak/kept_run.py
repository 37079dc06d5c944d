"""What is kept of a run beside its plan, history and verdict: what the table needs, in one file that is written last."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from tidemark.checkers import History, Verdict
from tidemark.checkers.verdict.verdict import NEAR_MISS, PERMITTED, VIOLATION
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.planned import PlannedRun

FORMAT = 1
RESULT = "result"
VALID, INVALID, UNKNOWN, REFUSED, MISSING = "valid", "invalid", "unknown", "refused", "missing"


@dataclass(slots=True)
class KeptRun:
    """A run, or one that is still to come (`valid` is ``missing``), or that cannot be had (``refused``).

    Attributes:
        system, variant, profile: of the run.
        seed, plan: which plan. digest: of the plan.
        valid: the verdict. contract: the promise it was judged by; empty if it was not carried out to its end.
        why: it is unknown, or refused; else empty.
        violations, near_misses, permitted: kind of anomaly → how many.
        faults: in the plan. acked: records that were acknowledged.
        started_again: processes that came too early and were started again.
        played: when it ended, UTC. seconds: how long it took. commit: of Tidemark.
    """

    system: str
    variant: str
    profile: str
    seed: int
    plan: int
    digest: str
    valid: str = MISSING
    contract: str = ""
    why: str = ""
    violations: dict[str, int] = field(default_factory=dict)
    near_misses: dict[str, int] = field(default_factory=dict)
    permitted: dict[str, int] = field(default_factory=dict)
    faults: int = 0
    acked: int = 0
    started_again: int = 0
    played: str = ""
    seconds: float = 0.0
    commit: str = ""

    @classmethod
    def of(cls, run: PlannedRun) -> KeptRun:
        """A run of which nothing is kept."""
        plan = run.plan
        kept = cls(run.system, run.variant, run.profile, plan.seed, plan.index, run.digest, faults=len(plan.faults))
        if run.refused:
            kept.valid, kept.why = REFUSED, run.refused
        return kept

    def renewed(self, run: PlannedRun, results: KeptResults) -> KeptRun:
        """Itself, with what another process may have kept of the run meanwhile."""
        found = kept_run(run, results)
        for entry in fields(self):
            setattr(self, entry.name, getattr(found, entry.name))
        return self

    def judged(self, history: History, verdict: Verdict) -> None:
        """What came of it."""
        kinds: Counter[tuple[str, str]] = Counter()
        for one in verdict.anomalies:
            kinds[one.verdict, one.name] += one.times
        self.valid, self.contract, self.why = verdict.valid, verdict.contract, verdict.unknown_because or ""
        self.violations = {name: count for (kind, name), count in sorted(kinds.items()) if kind == VIOLATION}
        self.near_misses = {name: count for (kind, name), count in sorted(kinds.items()) if kind == NEAR_MISS}
        self.permitted = {name: count for (kind, name), count in sorted(kinds.items()) if kind == PERMITTED}
        self.acked = int(verdict.stats["acked"])
        self.started_again = len(history.meta.get("started_again", ()))

    def broke_off(self, why: str) -> None:
        """It was not carried out to its end, and proves nothing."""
        self.valid, self.why = UNKNOWN, why

    @property
    def has_history(self) -> bool:
        """Whether it was carried out to its end."""
        return bool(self.contract)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> KeptRun:
        """What `to_json` gave.

        Raises:
            ValueError: it is not that, or of another format.
        """
        entries = dict(data)
        if entries.pop("format", None) != FORMAT:
            raise ValueError(f"the result has another format than {FORMAT}")
        try:
            return cls(**entries)
        except TypeError as error:
            raise ValueError(f"this is no result of a run: {error}") from None


def kept_run(run: PlannedRun, results: KeptResults) -> KeptRun:
    """A run with what an earlier command has kept of it, if that is of the same plan."""
    found = KeptRun.of(run)
    data = results.read(f"{run.name}/{RESULT}")
    try:
        earlier = KeptRun.from_json(data) if data is not None else found
    except ValueError:
        return found
    same = (earlier.digest, earlier.variant) == (found.digest, found.variant)
    return earlier if same and found.valid != REFUSED else found
