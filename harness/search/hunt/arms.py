"""Which profile the next young plan is drawn from: one after the other at first, then by what they yielded.

A multi-armed bandit (Auer et al., "Finite-time Analysis of the Multiarmed Bandit Problem", 2002). What a plan yields is what it
reached, each mark by its rarity; what it costs is how many events it took. An arm is drawn by yield for cost, and none is given up:
what a profile has to show may be rare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tidemark.harness.search.hunt.circumstances import Circumstances
from tidemark.harness.search.hunt.episodes import episode
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.mutations import Mutations
from tidemark.nemesis import PROFILES, REAL_ONLY, Plan, generate_plan
from tidemark.nemesis.kinds import DAMAGES, by_kind
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import Family

_FADES = 0.995
"""What an arm's earlier plans count for, after each more of it."""
_LEAST = 0.3
"""No arm is drawn less often than this share of the mean."""
_PLAIN_FIRST, _PLAIN = 128, 0.75
"""So many tries begin a hunt, of which this share is of the first profile: half of the zoo needs no more than all profiles have."""
_AT_RANDOM = 0.15
"""Share of young plans that are drawn as campaigns draw them; the others are episodes."""


def profiles_for(family: Family) -> tuple[str, ...]:
    """The profiles that a family's servers can bear in the simulator; of two that come to the same in a hunt, the first."""
    nothing = by_kind(family.not_suffered).keys()
    borne: dict[frozenset[str], str] = {}
    for name, kinds in PROFILES.items():
        if not (REAL_ONLY | {*DAMAGES}) & set(kinds):
            borne.setdefault(Kinds(name).known.difference(nothing), name)
    return tuple(borne.values())


@dataclass(slots=True)
class Arm:
    """A profile, and how plans of it are made.

    Attributes:
        tries: young plans of it. gain, cost: what they yielded and took, those of long ago for less.
    """

    kinds: Kinds
    circumstances: Circumstances
    mutations: Mutations = field(init=False)
    tries: int = 0
    gain: float = 0.0
    cost: float = 0.0

    def __post_init__(self) -> None:
        """Changes are made with the same kinds."""
        self.mutations = Mutations(self.kinds, self.circumstances)

    def young(self, rng: Random) -> Plan:
        """A plan that owes nothing to others."""
        if rng.random() >= _AT_RANDOM:
            return episode(rng, self.kinds, self.circumstances)
        return generate_plan(rng.randrange(1 << 32), 0, self.kinds.profile, self.circumstances.cluster(rng))


class Arms:
    """All profiles of a hunt. One alone is asked for where scripts are wanted: its plans are plain.

    Args:
        profiles: their names. cluster: of all plans. free: see :class:`Circumstances`. family: whose servers they are for.
    """

    def __init__(self, profiles: Sequence[str], cluster: ClusterSpec, *, free: bool, family: Family) -> None:
        votes, ledgers, plain = family.votes, family.store is not None, len(profiles) == 1
        nothing = by_kind(family.not_suffered).keys()
        self._arms = {
            name: Arm(
                Kinds(name, votes=votes, ledgers=ledgers, without=nothing),
                Circumstances(cluster, name, free=free, votes=votes, plain=plain),
            )
            for name in profiles
        }

    def __getitem__(self, profile: str) -> Arm:
        """The arm of a profile; the first, if a plan is of none of them."""
        return self._arms.get(profile) or next(iter(self._arms.values()))

    def profiles(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._arms)

    def kinds(self) -> frozenset[str]:
        """Every kind of fault that any of them may draw."""
        return frozenset().union(*(arm.kinds.known for arm in self._arms.values()))

    def draw(self, rng: Random, tries: int) -> Arm:
        """The next one, after so many tries of the hunt."""
        arms = list(self._arms.values())
        if len(arms) > 1 and tries < _PLAIN_FIRST and rng.random() < _PLAIN:
            return arms[0]
        fresh = [arm for arm in arms if not arm.tries]
        if fresh:
            return rng.choice(fresh)
        yields = [arm.gain / max(arm.cost, 1e-9) for arm in arms]
        floor = _LEAST * sum(yields) / len(yields) or 1.0
        (arm,) = rng.choices(arms, [max(one, floor) for one in yields])
        return arm

    def learn(self, profile: str, gain: float, cost: float) -> None:
        """What a young plan of a profile came to."""
        arm = self[profile]
        arm.tries += 1
        arm.gain, arm.cost = arm.gain * _FADES + gain, arm.cost * _FADES + cost

    def to_json(self) -> dict[str, Any]:
        """What they have yielded."""
        return {name: [arm.tries, arm.gain, arm.cost] for name, arm in self._arms.items()}

    def restore(self, data: Mapping[str, Any]) -> None:
        """The reverse."""
        for name, (tries, gain, cost) in data.items():
            arm = self._arms[name]
            arm.tries, arm.gain, arm.cost = int(tries), float(gain), float(cost)
