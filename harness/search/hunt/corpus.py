"""The plans worth changing, and how likely each is to be taken."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from tidemark.harness.search.hunt.trial import BROKEN, NEAR, Trial
from tidemark.nemesis import Plan

KEPT = 4
"""So many plans of each profile are kept for each mark: those whose runs took the fewest events, and so the least time."""
NEARNESS = {NEAR: 16.0, BROKEN: 4.0}
"""What a near miss, or a violation that is not the quarry, is worth more than a mark of the same rarity."""
COMMON = 30
"""One that so many tries showed is worth half of that: what always comes near leads nowhere."""


class Entry(NamedTuple):
    """A plan, what its run reached, mark → µs, and how many events it took."""

    plan: Plan
    reached: dict[str, int]
    events: int


class Corpus:
    """Plans by the marks they reached."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        """How many tries reached each mark."""
        self.struck: Counter[str] = Counter()
        """In how many tries each kind of fault struck."""
        self.tries = 0
        self.best: dict[str, dict[str, list[Entry]]] = {}
        """Profile → mark → the cheapest plans that reached it."""

    def __len__(self) -> int:
        """How many different plans it has."""
        return len(self.entries())

    def entries(self) -> list[Entry]:
        """All, each once, in order of coming."""
        every = (entry for marks in self.best.values() for entries in marks.values() for entry in entries)
        return list({id(entry): entry for entry in every}.values())

    def add(self, plan: Plan, trial: Trial) -> list[str]:
        """Take a tried plan in, where it is among the cheapest that reached a mark; returns the marks nobody had reached."""
        self.tries += 1
        new = [name for name in trial.reached if name not in self.seen]
        self.seen.update(trial.reached.keys())
        self.struck.update(trial.struck)
        entry = Entry(plan, trial.reached, trial.events)
        for name in trial.reached:
            kept = self.best.setdefault(plan.profile, {}).setdefault(name, [])
            if len(kept) < KEPT:
                kept.append(entry)
            else:
                place = max(range(KEPT), key=lambda i: kept[i].events)
                if trial.events < kept[place].events:
                    kept[place] = entry
        return new

    def rarity(self, trial: Trial) -> float:
        """What a tried plan yielded: each mark that it reached, by how few others did."""
        return sum(1 / self.seen[name] for name in trial.reached)

    def take(self, rng: Random, profile: str) -> tuple[Entry, tuple[int, ...]]:
        """A plan of a profile (of another, if there is none) to change, by a mark that few reach, and the moment of that mark."""
        best = self.best.get(profile) or self.best[rng.choice(list(self.best))]
        names = list(best)
        weights = [self._worth(name) for name in names]
        (name,) = rng.choices(names, weights)
        entry = rng.choice(best[name])
        return entry, (entry.reached[name],)

    def _worth(self, name: str) -> float:
        rarity: float = (self.tries / self.seen[name]) ** 0.5
        more = next((more for kind, more in NEARNESS.items() if name.startswith(kind)), 1.0)
        return rarity * max(more / (1 + self.seen[name] / COMMON), 1.0)
