"""What is to be held side by side: one script under one preset, and what stands for that preset in each world."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.play import variants_of
from tidemark.nodes.core.variant import PRESETS


@dataclass(frozen=True, slots=True)
class Pairing:
    """A script under a preset.

    Attributes:
        preset: the variant whose commands are carried out.
        model: the variant that the simulator and our containers run; another than the preset where a binary differs from it.
        system: what runs in reality, such as ``kafka:2.8.2@0.10.2``; empty if nothing does.
    """

    scenario: Scenario
    preset: str
    model: str
    system: str = ""

    @property
    def words(self) -> str:
        """For progress lines and headings."""
        under = f"{self.scenario.name} under {self.preset}"
        return f"{under} as {self.system}" if self.system else under


def pair(
    scenarios: Iterable[Scenario], variants: tuple[str, ...], stand_in: Callable[[str], tuple[str, str] | None] | None
) -> list[Pairing]:
    """All pairings of some scripts.

    Args:
        scenarios: the scripts.
        variants: only these; empty for all that a script speaks about.
        stand_in: preset → its model and its system, `None` if the system cannot express it. Without a system every variant is its
            own model.
    """
    pairings = []
    for scenario in scenarios:
        for variant in variants_of(scenario):
            if variants and variant not in variants:
                continue
            if stand_in is None:
                pairings.append(Pairing(scenario, variant, variant))
            elif variant in PRESETS and (found := stand_in(variant)) is not None:
                pairings.append(Pairing(scenario, variant, *found))
    return pairings
