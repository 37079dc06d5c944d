"""What may turn a near miss into a loss: the same run up to its moment, and then each of a few ordinary events, or two of them.

Up to the moment the run is the same, event by event: noise is drawn in streams, and none depends on faults that have not struck. So
a continuation is the plan without what came later, and is played from its beginning: a copy of the world would cost more
(docs/searching.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any, NamedTuple

from tidemark.harness.search.hunt.episodes import AFTER_LAST_US
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault, Plan
from tidemark.nodes.core.settings import MS

AT_ONCE_US, SOON_US = 1, 60 * MS
"""After the moment: before anything else happens, and when clients have had the time to write."""
LASTS_US = 500 * MS
HAZARDS = (
    "led-on-over-a-cut",
    "cut-without-conflict",
    "elected-behind-committed",
    "deposed-leader-committed",
    "let-in-behind-committed",
    "let-in-anew-behind-committed",
    "unfenced-behind",
    "majority-lacks-committed",
    "ensemble-lacks-confirmed",
)
"""Marks that are no near misses, and that one event more may turn into a loss: gone on from in the same way."""
_GROWTH = 3
"""Of a sort the first near miss is gone on from, the third, the ninth …"""
_AGAIN = 16
"""So many continuations of each after the first, drawn from all."""
_FAMILIAR = 6
"""So many of a sort are looked at without what is known; then it is clear whether it comes of that."""


class Near(NamedTuple):
    """A near miss: its name, of which sort it is, when in µs, and where."""

    name: str
    sort: str
    at_us: int
    partition: int


class Unfinished(NamedTuple):
    """A near miss whose continuations have not all been tried.

    `number`: the try that showed it. `times`: how many of its sort there had been. `done`: how many continuations have been tried.
    """

    plan: Plan
    near: Near
    number: int
    times: int
    done: int = 0

    def to_json(self) -> list[Any]:
        """Plain values."""
        return [self.plan.to_json(), list(self.near), self.number, self.times, self.done]

    @staticmethod
    def from_json(data: Any) -> Unfinished:  # noqa: ANN401 (as JSON gives it)
        """The reverse."""
        plan, near, *counts = data
        return Unfinished(Plan.from_json(plan), Near(*near), *counts)


class Finishing:
    """The near misses of a hunt, and what is still to be tried of them."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        """Sort → how many tries showed it."""
        self._next: dict[str, int] = {}
        """Sort → which of them is gone on from next."""
        self.vanished: Counter[str] = Counter()
        """The same of those that were not there without what is known."""
        self.unfinished: list[Unfinished] = []

    def familiar(self) -> dict[str, bool]:
        """Sorts that were seen often → whether they come of what is known."""
        times = self.seen + self.vanished
        return {sort: self.vanished[sort] > self.seen[sort] for sort, often in times.items() if often >= _FAMILIAR}

    def see(self, plan: Plan, near: Near, number: int) -> None:
        """A try showed a near miss: go on from it, if too many of its sort have not been gone on from."""
        self.seen[near.sort] += 1
        times = self.seen[near.sort]
        if times >= self._next.get(near.sort, 1):
            self._next[near.sort] = times * _GROWTH
            self.unfinished.append(Unfinished(plan, near, number, times))
            self.unfinished.sort(key=lambda one: (one.times, one.number))

    def take(self, kinds_of: Callable[[str], Kinds]) -> tuple[Plan, Unfinished] | None:
        """The next continuation, and what it continues; None if there is nothing to finish. ``kinds_of``: of a profile."""
        while self.unfinished:
            one = self.unfinished[0]
            plans = continuations(one.plan, one.near, kinds_of(one.plan.profile))
            if one.times > 1:
                plans = Random(one.number).sample(plans, min(_AGAIN, len(plans)))
            if one.done < len(plans):
                self.unfinished[0] = one._replace(done=one.done + 1)
                return plans[one.done], one
            del self.unfinished[0]
        return None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        unfinished = [one.to_json() for one in self.unfinished]
        counts = {"seen": dict(self.seen), "vanished": dict(self.vanished), "next": dict(self._next)}
        return {**counts, "unfinished": unfinished}

    def restore(self, data: Mapping[str, Any]) -> None:
        """The reverse."""
        self.seen, self.vanished = Counter(data["seen"]), Counter(data["vanished"])
        self._next = dict(data["next"])
        self.unfinished = [Unfinished.from_json(one) for one in data["unfinished"]]


def continuations(plan: Plan, near: Near, kinds: Kinds) -> list[Plan]:
    """The plan up to the moment, and then what an ordinary day brings; those first that are most often enough."""
    names = plan.cluster.assignment()
    replicas = [*names.values()][near.partition % len(names)]
    before = tuple(fault for fault in plan.faults if fault.at_us <= near.at_us)
    found = {}
    for later in _events([f"b{broker}" for broker in replicas], kinds):
        faults = tuple(
            replace(fault, at_us=near.at_us + fault.at_us, partition=near.partition, clients=False) for fault in later
        )
        end = max(fault.at_us + min(fault.lasts_us, LASTS_US) for fault in faults) + AFTER_LAST_US
        found[faults] = replace(plan, faults=(*before, *faults), faults_end_us=end)
    return list(found.values())


def _events(replicas: list[str], kinds: Kinds) -> Iterator[tuple[Fault, ...]]:
    """What may follow, at times from the moment on."""
    unclean = ("unclean-election",) if "unclean-election" in kinds.known else ()
    stops = tuple(kind for kind in ("crash", "power", "restart") if kind in kinds.known)
    hindered = ("from-peers", *stops)
    for elects in ("forced-election", *unclean):
        for when in (AT_ONCE_US, SOON_US):
            for node in replicas:
                yield (_fault(elects, when, node),)
    for kind in hindered:
        for node in ("leader", *replicas):
            yield (_fault(kind, AT_ONCE_US, node),)
    for elects in ("forced-election", *unclean):
        for one, other in permutations(replicas, 2):
            for kind in hindered[:2] if elects == "forced-election" else hindered[:1]:
                yield (_fault(kind, AT_ONCE_US, one), _fault(elects, AT_ONCE_US + 1, other))
        for node in replicas:
            yield (_fault("from-peers", AT_ONCE_US, node), _fault(elects, SOON_US, node))
    for one, other in permutations(replicas, 2):
        yield (_fault("from-peers", AT_ONCE_US, one), _fault("forced-election", SOON_US, other))
        yield (_fault("forced-election", AT_ONCE_US, one), _fault(stops[-2], SOON_US, other))
    if len(replicas) > 1:
        yield tuple(_fault("crash", AT_ONCE_US, node) for node in replicas)
        if "power" in kinds.known:
            yield (_fault("power-all", AT_ONCE_US, replicas[0]),)


def _fault(kind: str, when: int, target: str) -> Fault:
    return Fault(kind, when, LASTS_US, target, 0, 0, 0, clients=False)
