"""What is kept of a pair: how the model ends, how each try ended, and who played it when. What differs is found out from that.

Known differences are not kept, so that a difference that somebody explains later is explained on the next page.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tidemark.harness.conform.differing_endings import Difference, differences_from
from tidemark.harness.conform.ending import Ending
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.pairs import Pair
from tidemark.harness.runs.kept_results import KeptResults

FORMAT = 1
"""Of the file. To be raised when results of the same script and model would come out otherwise: all pairs are played again then."""
WORLD = "kafka"

CANNOT, UNEXPLAINED, EXPLAINED, EQUAL, FAILED, MISSING = (
    "cannot be played",
    "unexplained",
    "explained",
    "equal",
    "not carried out",
    "not played",
)


@dataclass(frozen=True, slots=True)
class KeptTry:
    """One play of a pair.

    Attributes:
        ending: in the leader epochs of the model.
        played: when it ended, UTC, such as ``2026-11-22T07:40:12Z``.
        seconds: how long it took.
        commit: of Tidemark.
        doubts: why the brokers' evidence cannot be relied on, as sentences.
    """

    ending: Ending
    played: str
    seconds: float
    commit: str
    doubts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "played": self.played,
            "seconds": self.seconds,
            "commit": self.commit,
            "doubts": list(self.doubts),
            "ending": self.ending.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> KeptTry:
        """What `to_json` gave.

        Raises:
            KeyError, TypeError, ValueError: it is not that.
        """
        return cls(
            Ending.from_json(data["ending"]),
            str(data["played"]),
            float(data["seconds"]),
            str(data["commit"]),
            tuple(data["doubts"]),
        )


@dataclass(slots=True)
class KeptPair:
    """A pair and what came of it so far.

    Attributes:
        scenario, title, preset, model, system: of the pair.
        inputs: digests of what the result depends on.
        cannot: why it cannot be played; empty if it can.
        reference: how the model ends; None if it cannot be played.
        tries: those that were carried out.
        failure: why the latest one was not; empty if it was.
    """

    scenario: str
    title: str
    preset: str
    model: str
    system: str
    inputs: dict[str, str]
    cannot: str
    reference: Ending | None
    tries: list[KeptTry] = field(default_factory=list)
    failure: str = ""

    @classmethod
    def of(cls, pair: Pair) -> KeptPair:
        """A pair of which nothing is kept."""
        pairing = pair.pairing
        return cls(
            pairing.scenario.name,
            pairing.scenario.title,
            pairing.preset,
            pairing.model,
            pairing.system,
            pair.inputs,
            pair.cannot,
            pair.reference,
        )

    def differences(self, findings: Iterable[KnownDifference]) -> list[Difference]:
        """In what the tries differ from the model."""
        if self.reference is None:
            return []
        concerned = [known for known in findings if known.concerns(self.scenario, self.system)]
        return differences_from(self.reference, [one.ending for one in self.tries], WORLD, concerned)

    def standing(self, findings: Iterable[KnownDifference]) -> str:
        """`CANNOT`, `UNEXPLAINED`, `EXPLAINED` or `EQUAL`; without any try `FAILED` or `MISSING`."""
        if self.cannot:
            return CANNOT
        if not self.tries:
            return FAILED if self.failure else MISSING
        differences = self.differences(findings)
        if any(one.finding is None for one in differences):
            return UNEXPLAINED
        return EXPLAINED if differences else EQUAL

    def lacks(self, tries: int) -> int:
        """How many tries are still to be played."""
        return 0 if self.cannot else max(tries - len(self.tries), 0)

    def renewed(self, pair: Pair, results: KeptResults) -> KeptPair:
        """Itself, with what another process may have kept of the pair meanwhile."""
        found = kept_pair(pair, results)
        self.tries, self.cannot, self.failure = found.tries, found.cannot, found.failure
        return self

    def could_show(self, finding: KnownDifference) -> bool:
        """Whether a known difference, if it still holds, shows here."""
        return finding.always and bool(self.tries) and finding.concerns(self.scenario, self.system)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "format": FORMAT,
            "scenario": self.scenario,
            "title": self.title,
            "preset": self.preset,
            "model": self.model,
            "system": self.system,
            "inputs": self.inputs,
            "cannot": self.cannot or None,
            "failure": self.failure or None,
            "reference": self.reference.to_json() if self.reference is not None else None,
            "tries": [one.to_json() for one in self.tries],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> KeptPair:
        """What `to_json` gave.

        Raises:
            ValueError: it is not that, or of another format.
        """
        try:
            if data["format"] != FORMAT:
                raise ValueError(f"the result has format {data['format']}, not {FORMAT}")
            return cls(
                scenario=str(data["scenario"]),
                title=str(data["title"]),
                preset=str(data["preset"]),
                model=str(data["model"]),
                system=str(data["system"]),
                inputs=dict(data["inputs"]),
                cannot=data["cannot"] or "",
                reference=None if data["reference"] is None else Ending.from_json(data["reference"]),
                tries=[KeptTry.from_json(one) for one in data["tries"]],
                failure=data["failure"] or "",
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no result of a pair: {error!r}") from None


def all_kept(results: KeptResults) -> list[KeptPair]:
    """All pairs of which something is kept, whether it still holds or not. What is no result is left out."""
    found = []
    for name in results.names():
        data = results.read(name)
        with suppress(ValueError):
            found += [KeptPair.from_json(data)] if data is not None else []
    return found


def kept_pair(pair: Pair, results: KeptResults) -> KeptPair:
    """A pair with what an earlier run has kept of it, if that still holds: same format, same script, same ending of the model. One
    that turned out to be unplayable stays so.
    """
    found = KeptPair.of(pair)
    data = results.read(pair.name)
    try:
        earlier = KeptPair.from_json(data) if data is not None else None
    except ValueError:
        earlier = None
    if earlier is not None and earlier.inputs == found.inputs:
        found.tries, found.failure = earlier.tries, earlier.failure
        found.cannot = found.cannot or earlier.cannot
    return found
