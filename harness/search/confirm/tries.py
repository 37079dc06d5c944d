"""One try of a script on brokers, and all of them beside what the model does; plain data, so that it can be kept and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION
from tidemark.harness.scenario import ScenarioOutcome
from tidemark.harness.scenario.compare import describe
from tidemark.harness.scenario.show import in_names

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun


@dataclass(frozen=True, slots=True)
class Try:
    """How one try went.

    Attributes:
        number: from 1.
        seen: the checkers found the anomaly that was looked for, as a violation.
        valid: the verdict; empty if the try could not be carried out.
        stopped: where the script could not go on, and why; empty if it came to its end.
        anomalies: what the checkers found of violations and what is permitted, in a line each.
        message: of the anomaly that was looked for.
        differences: in what it ended otherwise than the model of that system.
        seconds: how long it took.
        failure: why it could not be carried out at all; empty if it could.
    """

    number: int
    seen: bool
    valid: str
    stopped: str
    anomalies: tuple[str, ...]
    message: str
    differences: tuple[str, ...]
    seconds: float
    failure: str = ""

    @property
    def in_words(self) -> str:
        """In a line."""
        if self.failure:
            return f"not carried out: {self.failure}"
        seen = "seen" if self.seen else "not seen"
        return f"{seen} ({self.valid}, {self.seconds:.0f} s)" + (f"; stopped at {self.stopped}" if self.stopped else "")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Try:
        """The reverse.

        Raises:
            TypeError: it is not that.
        """
        found = Try(**data)
        return replace(found, anomalies=tuple(found.anomalies), differences=tuple(found.differences))


def failed(number: int, why: str) -> Try:
    """A try that could not be carried out."""
    return Try(
        number, seen=False, valid="", stopped="", anomalies=(), message="", differences=(), seconds=0, failure=why
    )


def try_of(number: int, name: str, outcome: ScenarioOutcome, differences: Sequence[str]) -> Try:
    """What came of a script that was played.

    Args:
        number: of the try.
        name: of the anomaly that is looked for.
        outcome: as the system gave it.
        differences: from the model of that system.
    """
    scenario, verdict = outcome.scenario, outcome.verdict
    told = [
        f"{one.verdict} {one.name} {describe(scenario, one)}".rstrip()
        for one in verdict.anomalies
        if one.verdict in (VIOLATION, PERMITTED)
    ]
    found = next((one for one in verdict.named(name) if one.verdict == VIOLATION), None)
    message = "" if found is None else in_names(scenario, found.message)
    seconds = outcome.history.meta["end_us"] / 1e6
    said = tuple(differences)
    return Try(number, found is not None, verdict.valid, outcome.stopped, tuple(told), message, said, round(seconds, 1))


_ALSO = {"lost-write": "lost-committed-write"}
"""Of a system that is seen from outside the second says of its logs what the first says of its readers."""


def try_of_run(number: int, name: str, run: JudgedRun) -> Try:
    """What came of a plan that was played on a system that is seen from outside.

    Args:
        number: of the try.
        name: of the anomaly that is looked for; an acknowledged record may be gone for readers, or from the leader's log.
        run: as the system gave it.
    """
    verdict = run.verdict
    told = dict.fromkeys(
        f"{one.verdict} {one.name}" for one in verdict.anomalies if one.verdict in (VIOLATION, PERMITTED)
    )
    same = (*verdict.named(name), *verdict.named(_ALSO.get(name, name)))
    found = next((one for one in same if one.verdict == VIOLATION), None)
    message = "" if found is None else found.message
    return Try(number, found is not None, verdict.valid, "", tuple(told), message, (), round(run.virtual_us / 1e6, 1))


@dataclass(frozen=True, slots=True)
class Modelled:
    """What was found in the model.

    Attributes:
        variant: the protocol. anomaly, cause: what, and why.
        plan: the shrunk plan in lines, conditions first.
        script: its text; empty where the plan itself is played.
        outcome: of the script in the simulator (`tidemark.harness.scenario.ScenarioOutcome.to_json`); empty without one.
        told: the anomaly as a sentence, with the script's names.
        sturdy: in how many of how many simulated worlds with slow hands and slow messages the script shows it; a plan, under how
            many noises.
        commands: how to see it again.
    """

    variant: str
    anomaly: str
    cause: str
    plan: tuple[str, ...]
    script: str
    outcome: dict[str, Any]
    told: str
    sturdy: tuple[int, int]
    commands: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Modelled:
        """The reverse.

        Raises:
            TypeError: it is not that.
        """
        found = Modelled(**data)
        first, of = found.sturdy
        return replace(found, plan=tuple(found.plan), sturdy=(first, of), commands=tuple(found.commands))


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the model did, what a system did in each try, and how many tries there are to be."""

    modelled: Modelled
    system: str
    tries: tuple[Try, ...]
    wanted: int

    @property
    def seen(self) -> int:
        """In how many tries it was seen."""
        return sum(one.seen for one in self.tries)

    @property
    def in_words(self) -> str:
        """As much as may be said, and no more."""
        count = len(self.tries)
        words = f"{self.modelled.anomaly} seen in {self.seen} of {count} {'try' if count == 1 else 'tries'} on {self.system}"
        not_done = sum(bool(one.failure) for one in self.tries)
        stopped = sum(bool(one.stopped) for one in self.tries)
        notes = [f"{stopped} did not come to the script's end"] if stopped else []
        notes += [f"{not_done} could not be carried out"] if not_done else []
        notes += [f"{self.wanted - count} of {self.wanted} not made yet"] if count < self.wanted else []
        return words + (f" ({'; '.join(notes)})" if notes else "")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "system": self.system,
            "seen": self.seen,
            "tries": [one.to_json() for one in self.tries],
            "wanted": self.wanted,
            "model": self.modelled.to_json(),
        }
