"""The endings of one pairing in all worlds, and in what they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from tidemark.harness.conform.ending import PLAYED, TO_THE_END, Ending, ending
from tidemark.harness.conform.epochs import reigns
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.scenario.play import ScenarioOutcome

ABSENT = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not in a world as it is in the reference.

    Attributes:
        world: in which.
        aspect: what it is about.
        model: how it is in the reference.
        seen: how it is in the world.
        tries: in how many of the world's runs it shows.
        times: how many runs there were.
        finding: what it is, if that is known.
    """

    world: str
    aspect: str
    model: str
    seen: str
    tries: int
    times: int
    finding: KnownDifference | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        told = asdict(self)
        known = told.pop("finding")
        return {**told, "known": known and {"why": known["why"], "source": known["source"]}}


@dataclass(slots=True)
class Played:
    """A pairing in one world, as often as it was tried there.

    Attributes:
        world: its name, and what ran in it.
        cannot: why it cannot be played there; empty if it can.
        failures: tries that could not be carried out, and why.
    """

    world: str
    system: str
    outcomes: list[ScenarioOutcome] = field(default_factory=list)
    cannot: str = ""
    failures: list[str] = field(default_factory=list)


class SideBySide:
    """A pairing side by side.

    Args:
        pairing: what was played.
        played: in which worlds, the reference first.
        findings: the differences that are known.
    """

    def __init__(self, pairing: Pairing, played: Sequence[Played], findings: Iterable[KnownDifference]) -> None:
        self.pairing = pairing
        self.played = tuple(played)
        self._findings = tuple(findings)

    @cached_property
    def endings(self) -> dict[str, list[Ending]]:
        """Player → the endings of its tries, in the leader epochs of the reference."""
        model = self._model
        numbers = reigns(model.history.trace) if model is not None else None
        return {one.world: [ending(outcome, numbers) for outcome in one.outcomes] for one in self.played}

    @property
    def _model(self) -> ScenarioOutcome | None:
        return next((outcome for one in self.played for outcome in one.outcomes), None)

    @property
    def reference(self) -> str:
        """The world that the others are held against: the first that played."""
        return next((one.world for one in self.played if one.outcomes), "")

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """All of them, world by world. Where one was not played to the end, that is all that is said of it."""
        found: list[Difference] = []
        for one in self.played:
            if one.outcomes:
                concerned = [
                    known for known in self._findings if known.concerns(self.pairing.scenario.name, one.system)
                ]
                reference = self.endings[self.reference][0]
                found += differences_from(reference, self.endings[one.world], one.world, concerned)
        return tuple(found)

    @property
    def unexplained(self) -> tuple[Difference, ...]:
        """The differences that nobody has looked into."""
        return tuple(one for one in self.differences if one.finding is None)

    @property
    def failures(self) -> list[str]:
        """Tries that could not be carried out, and why."""
        return [f"{self.pairing.words} in {one.world}: {words}" for one in self.played for words in one.failures]

    @property
    def left_out(self) -> list[str]:
        """Worlds in which it cannot be played, though others held it side by side."""
        return [one.world for one in self.played if one.cannot] if self.standing != "alone" else []

    @property
    def stopped(self) -> str:
        """At which of its lines the script ends in the reference, and why; empty if it comes to its end."""
        return next((outcome.stopped for one in self.played[:1] for outcome in one.outcomes), "")

    @property
    def standing(self) -> str:
        """``equal``, ``known``, ``unexplained``, ``failed``, ``stopped``, or ``alone`` where fewer than two worlds played it."""
        if self.stopped:
            return "stopped"
        if self.unexplained:
            return "unexplained"
        if self.failures:
            return "failed"
        if sum(bool(one.outcomes) for one in self.played) < 2:
            return "alone"
        return "known" if self.differences else "equal"

    def could_show(self, finding: KnownDifference) -> bool:
        """Whether a finding, if it still holds, shows here."""
        return finding.always and any(
            one.outcomes and finding.concerns(self.pairing.scenario.name, one.system) for one in self.played
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, everything that is known of the comparison."""
        return {
            "scenario": self.pairing.scenario.name,
            "title": self.pairing.scenario.title,
            "source": self.pairing.scenario.source,
            "preset": self.pairing.preset,
            "model": self.pairing.model,
            "system": self.pairing.system,
            "standing": self.standing,
            "reference": self.reference,
            "stopped": self.stopped or None,
            "worlds": [
                {
                    "world": one.world,
                    "system": one.system,
                    "cannot_stage": one.cannot or None,
                    "failures": one.failures,
                    "tries": [told.to_json() for told in self.endings[one.world]],
                }
                for one in self.played
            ],
            "differences": [one.to_json() for one in self.differences],
        }


def differences_from(
    reference: Ending, endings: Sequence[Ending], world: str, concerned: Sequence[KnownDifference]
) -> list[Difference]:
    """In what some tries ended otherwise than the reference.

    Args:
        reference: how it should have ended.
        endings: of the tries, in the leader epochs of the reference.
        world: where they ended so.
        concerned: the known differences of this script there; the first that explains a difference does.
    """
    told: dict[tuple[str, str, str], int] = {}
    for seen in endings:
        for difference in _between(reference.values, seen.values):
            told[difference] = told.get(difference, 0) + 1
    return [
        Difference(
            world,
            *difference,
            tries,
            len(endings),
            next((known for known in concerned if known.explains(*difference)), None),
        )
        for difference, tries in told.items()
    ]


def _between(model: dict[str, str], seen: dict[str, str]) -> list[tuple[str, str, str]]:
    if TO_THE_END not in (model[PLAYED], seen[PLAYED]) or model[PLAYED] != seen[PLAYED]:
        # What follows from a step that was not carried out says nothing.
        return [(PLAYED, model[PLAYED], seen[PLAYED])] if model[PLAYED] != seen[PLAYED] else []
    return [
        (aspect, model.get(aspect, ABSENT), seen.get(aspect, ABSENT))
        for aspect in dict.fromkeys([*model, *seen])
        if model.get(aspect) != seen.get(aspect)
    ]


def stale(findings: Iterable[KnownDifference], comparisons: Sequence[SideBySide]) -> list[KnownDifference]:
    """Findings that should have shown in what was compared, and did not."""
    shown = {one.finding for comparison in comparisons for one in comparison.differences if one.finding is not None}
    return [
        finding
        for finding in findings
        if finding not in shown and any(comparison.could_show(finding) for comparison in comparisons)
    ]
