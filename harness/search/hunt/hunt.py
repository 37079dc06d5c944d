"""The search: rounds of young and changed plans, tried side by side, until something is caught or time is over.

A round's plans are drawn from the corpus as it was before the round, and their results are taken in in turn. So the same seed gives
the same search, however many processes try the plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from tidemark.harness.search.hunt.circumstances import Circumstances
from tidemark.harness.search.hunt.corpus import Corpus
from tidemark.harness.search.hunt.episodes import episode
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.harness.search.hunt.mutations import Mutations
from tidemark.harness.search.hunt.quarry import Quarry
from tidemark.harness.search.hunt.trial import Trial, attempt
from tidemark.nemesis import AskedWorkload, Plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import family_of, parse_variant

Spread = Callable[[Callable[[Plan], Trial], Iterable[Plan]], Iterable[Trial]]
"""How a round's plans are tried: `map`, or a pool's, in order."""

ROUND = 32
"""Plans a round, if nobody wants more."""
_YOUNG = 0.25
"""Share of young plans, once there are others to change."""


class Found(NamedTuple):
    """A plan that caught what was hunted. `number`: which of all tries, from 1."""

    number: int
    plan: Plan
    trial: Trial


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hunt is.

    Attributes:
        tries: plans tried. corpus: plans kept. marks: different marks reached.
        new: marks that were reached for the first time in this round.
        found: what was caught in this round.
    """

    tries: int
    corpus: int
    marks: int
    new: tuple[str, ...]
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Tries a plan; travels to other processes."""

    variant: str
    quarry: Quarry
    contract: str | None = None

    def __call__(self, plan: Plan) -> Trial:
        """See :func:`tidemark.harness.search.hunt.trial.attempt`."""
        return attempt(plan, parse_variant(self.variant), self.quarry, self.contract)


class Hunt:
    """One search.

    Args:
        attempt: how a plan is tried.
        profile: which kinds of fault (:data:`nemesis.PROFILES`).
        cluster: of all plans.
        seed: of all draws.
        plans_a_round: the more, the more cores are put to use, and the less each plan knows of those just before it.
        free: whether plans may have other numbers of brokers and replicas than the cluster.
        asked: how busy clients are, and how long plans last, in place of what is drawn.
    """

    def __init__(
        self,
        attempt: Attempt,
        profile: str,
        cluster: ClusterSpec,
        seed: int,
        plans_a_round: int = ROUND,
        *,
        free: bool = False,
        asked: AskedWorkload | None = None,
    ) -> None:
        self.corpus = Corpus()
        self._size = plans_a_round
        self._attempt = attempt
        votes = family_of(parse_variant(attempt.variant)).votes
        self._kinds = Kinds(profile, votes=votes)
        self._circumstances = Circumstances(cluster, profile, free=free, votes=votes)
        self._mutations = Mutations(self._kinds, self._circumstances)
        self._seed = seed
        self._asked = asked or AskedWorkload()
        self.round = 0
        """The next one."""

    def rounds(self, spread: Spread = map) -> Iterator[Progress]:
        """Search on, round by round, without end."""
        while True:
            plans = self._draw()
            yield self._take_in(plans, list(spread(self._attempt, plans)))

    def _draw(self) -> list[Plan]:
        plans = []
        for place in range(self._size):
            rng = Random(f"tidemark hunt/{self._seed}/{self.round}/{place}")
            if not len(self.corpus) or rng.random() < _YOUNG:
                plan = episode(rng, self._kinds, self._circumstances)
            else:
                entry, moments = self.corpus.take(rng)
                other, _ = self.corpus.take(rng)
                plan = self._mutations.of(rng, entry.plan, moments, other.plan)
            plans.append(replace(self._asked.of(plan), index=self.round * self._size + place, seed=self._seed))
        self.round += 1
        return plans

    def _take_in(self, plans: list[Plan], trials: list[Trial]) -> Progress:
        new: list[str] = []
        found = []
        for plan, trial in zip(plans, trials, strict=True):
            new += self.corpus.add(plan, trial)
            if trial.caught is not None:
                found.append(Found(self.corpus.tries, plan, trial))
        return Progress(self.corpus.tries, len(self.corpus), len(self.corpus.seen), tuple(new), tuple(found))
