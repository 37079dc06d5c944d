"""Looking for a bug of the zoo, as if it were not known: by random plans, by a hunt, by an exhaustive search.

A plan shows a bug if it has the violation (or near miss) under the variant with the bug, and is without any violation under the
repaired one. Without that control a plan might show something else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tidemark.harness.search.explore.search import Limits, explore
from tidemark.harness.search.hunt import Hunt, Quarry
from tidemark.harness.search.hunt.hunt import Attempt
from tidemark.harness.search.hunt.trial import Trial, attempt
from tidemark.harness.zoo.entry import Entry
from tidemark.harness.zoo.known import known_of
from tidemark.nemesis import Plan, generate_plan
from tidemark.nodes.core.variant import parse_variant


@dataclass(frozen=True, slots=True)
class Detection:
    """What a search came to.

    Attributes:
        found: whether it found the bug. seconds: of the CPU, till then or till it gave up. tries: plans, or states.
        plan: the one that shows it. anomaly: how.
    """

    found: bool
    seconds: float
    tries: int
    plan: Plan | None = None
    anomaly: str = ""


@dataclass(frozen=True, slots=True)
class Controlled(Attempt):
    """Tries a plan under the bug, and under its repair where something is caught."""

    repaired: str = ""

    def __call__(self, plan: Plan) -> Trial:
        """What was caught, if the repaired variant is free of it and of any violation."""
        trial = attempt(plan, parse_variant(self.variant), self.quarry, self.contract, self.known, self.familiar)
        if trial.caught is None or self.is_clean(plan):
            return trial
        return trial._replace(caught=None)

    def is_clean(self, plan: Plan) -> bool:
        """Whether the repaired variant does nothing wrong under the plan."""
        trial = attempt(plan, parse_variant(self.repaired), self.quarry, self.contract)
        return trial.caught is None and trial.valid != "invalid"


def tries_of(entry: Entry) -> Controlled:
    """How a plan is tried for a bug; both variants are judged by the same promise. What else is known steps back."""
    contract = entry.contract or parse_variant(entry.variant).contract
    known = known_of(entry.variant, hunted=lambda repaired: not entry.is_in(parse_variant(repaired)))
    return Controlled(entry.variant, Quarry(entry.anomalies), contract, known, repaired=entry.repaired)


def by_hunt(entry: Entry, seed: int, seconds: float) -> Detection:
    """Hunt for it for so many seconds of the CPU."""
    began = time.process_time()
    hunt = Hunt(tries_of(entry), None, entry.cluster_spec(), seed)
    tries = 0
    for progress in hunt.rounds():
        spent, tries = time.process_time() - began, progress.tries
        if found := progress.found or progress.known:  # the control has judged both
            number, plan, trial, _ = found[0]
            return Detection(True, spent, number, plan, trial.caught.name if trial.caught else "")
        if spent > seconds:
            break
    return Detection(False, time.process_time() - began, tries)


def by_random_plans(entry: Entry, seed: int, seconds: float) -> Detection:
    """The same with random plans, one after the other."""
    began = time.process_time()
    tried = tries_of(entry)
    index = 0
    while (spent := time.process_time() - began) <= seconds:
        plan = generate_plan(seed, index, entry.profile, entry.cluster_spec())
        index += 1
        if (trial := tried(plan)).caught is not None:
            return Detection(True, time.process_time() - began, index, plan, trial.caught.name)
    return Detection(False, spent, index)


def by_exploring(entry: Entry, seconds: float) -> Detection:
    """Search all orders within the entry's bounds; not found where it has none.

    The control is the repaired variant within the same bounds: it must not be broken as far as the search gets in that time.
    """
    if entry.explore is None:
        return Detection(False, 0, 0)
    limits, invariants, beside = Limits(seconds=seconds), (entry.explore.invariant,), entry.explore.beside
    found = explore(parse_variant(entry.variant + beside), entry.explore.bounds(), invariants, limits)
    broken = found.outcome == "broken"
    if broken:
        control = explore(parse_variant(entry.repaired + beside), entry.explore.bounds(), invariants, limits)
        broken = control.outcome != "broken"
    return Detection(broken, found.cpu_seconds, found.states, None, found.invariant)
