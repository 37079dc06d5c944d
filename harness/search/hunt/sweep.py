"""Scenes in turn: whatever seems to pay, each is played again and again.

A scene may show a defect in one draw of ten and reach no mark before, so nothing leads there; and of fifty scenes in a dozen
profiles each would come up a few times in thousands of tries.
"""

from __future__ import annotations

from random import Random

from tidemark.harness.search.hunt.arms import Arms
from tidemark.harness.search.hunt.episodes import scene_alone
from tidemark.harness.search.hunt.scenes import who_plays
from tidemark.nemesis import Plan

EVERY, _FIRST = 9, 3
"""One try in so many is the next scene's, from the fourth on."""


class Sweep:
    """All scenes that profiles play, each once in a turn, and each turn in an order of its own.

    Args:
        arms: the profiles. seed: of the orders.
    """

    def __init__(self, arms: Arms, seed: int) -> None:
        self._arms = arms
        self._seed = seed
        self._playing = who_plays(arms[profile].kinds for profile in arms.profiles())

    def plan(self, rng: Random, index: int) -> Plan | None:
        """What is tried at a place in the hunt, if that is a scene's."""
        number, place = divmod(index, EVERY)
        if place != _FIRST:
            return None
        names = [*self._playing]
        turn, at = divmod(number, len(names))
        Random(f"tidemark scenes/{self._seed}/{turn}").shuffle(names)
        arm = self._arms[rng.choice(self._playing[names[at]])]
        return scene_alone(names[at], rng, arm.kinds, arm.circumstances)
