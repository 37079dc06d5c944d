"""What the checkers say about a run: anomalies, and one verdict over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tidemark.checkers.verdict.visible import visible

VIOLATION = "violation"
PERMITTED = "permitted"
NEAR_MISS = "near-miss"
"""Nothing is lost and no promise broken yet, but a state is reached that must not be: an ordinary event more, and something is."""
INFORMATIONAL = "informational"
"""Worth knowing, and nothing that anybody promised not to happen."""
GRAVITY = (VIOLATION, NEAR_MISS, PERMITTED, INFORMATIONAL)
"""All of them, the gravest first."""
BY_PROMISES = (VIOLATION, PERMITTED)
"""Those that tell how promises were kept; an expected outcome, or two worlds, are compared by them."""
CLIENTS = "clients"
CLIENTS_AND_REPLICAS = "clients and replicas"

Json = Any
"""What `json.dumps` takes."""


class Judgement(NamedTuple):
    """How a loss is to be taken: against the run's own promise, and against the others.

    `clause` says why it is permitted (`None` for a violation); `breaks` names the promises it breaks; `beyond` says why it is
    judged by more than the run's own promise, if it is that which makes it a violation.
    """

    verdict: str
    clause: str | None
    breaks: tuple[str, ...]
    beyond: str | None = None


VIOLATES = Judgement(VIOLATION, None, ())
INFORMS = Judgement(INFORMATIONAL, None, ())


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One thing that should not have happened, or that may happen but is worth telling.

    `verdict` is `VIOLATION`, `PERMITTED` or `INFORMATIONAL`; `time` is in microseconds of the run;
    `message` is one sentence for a newcomer; `evidence` can be written as JSON.
    """

    name: str
    verdict: str
    time: int
    partition: str
    message: str
    clause: str | None = None
    breaks: tuple[str, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A sentence is for reading: what a history's names and records would do to a terminal is made visible."""
        shown = visible(self.message)
        if shown is not self.message:
            object.__setattr__(self, "message", shown)

    @property
    def sums_up(self) -> bool:
        """Whether it stands for others that are not listed."""
        return "violations" in self.evidence

    @property
    def times(self) -> int:
        """How many it stands for: one, but for what sums up those that are not listed."""
        return times_in(self.evidence)

    def to_json(self) -> dict[str, Any]:
        """The anomaly as plain JSON data, always with the same order of keys."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "time": self.time,
            "partition": self.partition,
            "message": self.message,
            "clause": self.clause,
            "breaks": list(self.breaks),
            "evidence": plain(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a run.

    `valid` is ``"invalid"`` if any anomaly is a violation, ``"unknown"`` if nothing happened that could have
    gone wrong, or evidence is missing (`unknown_because` says what), else ``"valid"``. `contract` is the promise the run
    was judged by, `judged_from` the evidence that spoke: ``clients``, or ``clients and replicas``.
    """

    valid: str
    contract: str
    anomalies: tuple[Anomaly, ...]
    unknown_because: str | None
    stats: dict[str, Any]
    judged_from: str = CLIENTS

    def named(self, name: str) -> list[Anomaly]:
        """The anomalies of one name, in order of time."""
        return [anomaly for anomaly in self.anomalies if anomaly.name == name]

    def broken(self) -> tuple[str, ...]:
        """The promises that some loss breaks, whether or not the run is judged by them: those it could have kept."""
        return tuple(sorted({promise for anomaly in self.anomalies for promise in anomaly.breaks}))

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain JSON data, always with the same order of keys."""
        return {
            "valid": self.valid,
            "contract": self.contract,
            "unknown_because": self.unknown_because,
            "judged_from": self.judged_from,
            "stats": plain(self.stats),
            "anomalies": [anomaly.to_json() for anomaly in self.anomalies],
        }


def times_in(evidence: Mapping[str, Any]) -> int:
    """How many anomalies one stands for, by its evidence."""
    return int(evidence["count"]) if "violations" in evidence else 1


def at_offset(offset: int | None) -> str:
    """Where a record is, in a sentence."""
    return "at an unknown offset" if offset is None else f"at offset {offset}"


def plain(value: Json) -> Json:
    """`value` with its tuples turned into lists, as JSON would give it back."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def seconds(time: int) -> str:
    """A time in µs for people: ``1.250000 s``."""
    return f"{time // 1_000_000}.{time % 1_000_000:06d} s"
