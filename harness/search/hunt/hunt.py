"""The search: rounds of young and changed plans, tried side by side, until something is caught or time is over.

A round's plans are drawn from the corpus as it was before the round, and their results are taken in in turn. So the same seed gives
the same search, however many processes try the plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from tidemark.harness.search.hunt.arms import Arms, profiles_for
from tidemark.harness.search.hunt.corpus import Corpus
from tidemark.harness.search.hunt.finishing import SOON_US, Finishing
from tidemark.harness.search.hunt.known import Known
from tidemark.harness.search.hunt.quarry import Quarry
from tidemark.harness.search.hunt.sweep import Sweep
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
    """A plan that caught what was hunted.

    `number`: which of all tries, from 1. `made_of`: the near miss that it was made of, and the try that showed it; empty: of none.
    """

    number: int
    plan: Plan
    trial: Trial
    made_of: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hunt is.

    Attributes:
        tries: plans tried. corpus: plans kept. marks: different marks reached.
        new: marks that were reached for the first time in this round.
        found: what was caught in this round, and not known before.
        known: what was caught, and known.
    """

    tries: int
    corpus: int
    marks: int
    new: tuple[str, ...]
    found: tuple[Found, ...]
    known: tuple[Found, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """Tries a plan; travels to other processes."""

    variant: str
    quarry: Quarry
    contract: str | None = None
    known: Known | None = None
    familiar: Mapping[str, bool] | None = None

    def __call__(self, plan: Plan) -> Trial:
        """See :func:`tidemark.harness.search.hunt.trial.attempt`."""
        return attempt(plan, parse_variant(self.variant), self.quarry, self.contract, self.known, self.familiar)


class Hunt:
    """One search.

    Args:
        attempt: how a plan is tried.
        profile: which kinds of fault (:data:`nemesis.PROFILES`); None: all that the variant can bear, by what they yield.
        cluster: of all plans.
        seed: of all draws.
        plans_a_round: the more, the more cores are put to use, and the less each plan knows of those just before it.
        free: whether plans may have other numbers of brokers and replicas than the cluster.
        asked: how busy clients are, and how long plans last, in place of what is drawn.
        without: kinds of fault that are left out of every plan, for who is to suffer what is found cannot suffer these.
    """

    def __init__(
        self,
        attempt: Attempt,
        profile: str | None,
        cluster: ClusterSpec,
        seed: int,
        plans_a_round: int = ROUND,
        *,
        free: bool = False,
        asked: AskedWorkload | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.corpus = Corpus()
        self.finishing = Finishing()
        self._size = plans_a_round
        self.attempt = attempt
        family = family_of(parse_variant(attempt.variant))
        profiles = (profile,) if profile is not None else profiles_for(family)
        self.arms = Arms(profiles, cluster, free=free, family=family)
        self._sweep = Sweep(self.arms, seed)
        self._seed = seed
        self._asked = asked or AskedWorkload()
        self._without = without
        self.round = 0
        """The next one."""

    def kinds(self) -> set[str]:
        """The kinds of fault that its plans may have."""
        return {*self.arms.kinds()} - {*self._without}

    def rounds(self, spread: Spread = map) -> Iterator[Progress]:
        """Search on, round by round, without end."""
        while True:
            drawn = self._draw()
            if self.attempt.known:
                self.attempt = replace(self.attempt, familiar=self.finishing.familiar())
            yield self._take_in(drawn, list(spread(self.attempt, [one.plan for one in drawn])))

    def _draw(self) -> list[_Drawn]:
        drawn = []
        for place in range(self._size):
            rng = Random(f"tidemark hunt/{self._seed}/{self.round}/{place}")
            index = self.round * self._size + place
            scene = self._sweep.plan(rng, index)
            one = self._drawn(rng, finish=place % 3 == 1) if scene is None else _Drawn(self._asked.of(scene))
            suffered = tuple(fault for fault in one.plan.faults if fault.kind not in self._without)
            plan = replace(one.plan, faults=suffered, index=index, seed=self._seed)
            drawn.append(one._replace(plan=plan))
        self.round += 1
        return drawn

    def _drawn(self, rng: Random, *, finish: bool) -> _Drawn:
        """The next plan; a third of a round may go on from near misses."""
        if finish and (taken := self.finishing.take(lambda profile: self.arms[profile].kinds)) is not None:
            plan, of = taken
            if self._asked.duration is not None:
                plan = replace(plan, faults_end_us=of.plan.faults_end_us)
            return _Drawn(plan, made_of=f"{of.near.name} of try {of.number}")
        arm = self.arms.draw(rng, self.corpus.tries)
        if not self.corpus.best or rng.random() < _YOUNG:
            return _Drawn(self._asked.of(arm.young(rng)), young=True)
        entry, moments = self.corpus.take(rng, arm.kinds.profile)
        other, _ = self.corpus.take(rng, arm.kinds.profile)
        mutations = self.arms[entry.plan.profile].mutations
        return _Drawn(self._asked.of(mutations.of(rng, entry.plan, moments, other.plan)))

    def _take_in(self, drawn: list[_Drawn], trials: list[Trial]) -> Progress:
        new: list[str] = []
        caught = []
        for (plan, made_of, young), trial in zip(drawn, trials, strict=True):
            new += self.corpus.add(plan, trial)
            if young:
                self.arms.learn(plan.profile, self.corpus.rarity(trial), trial.events)
            if trial.caught is not None:
                caught.append(Found(self.corpus.tries, plan, trial, made_of))
            self.finishing.vanished.update(trial.vanished)
            if trial.caught is None and not made_of:
                for near in trial.near:
                    if self._asked.duration is None or near.at_us + SOON_US < plan.faults_end_us:
                        self.finishing.see(plan, near, self.corpus.tries)
        found, known = (tuple(one for one in caught if bool(one.trial.known) is is_known) for is_known in (False, True))
        return Progress(self.corpus.tries, len(self.corpus), len(self.corpus.seen), tuple(new), found, known)


class _Drawn(NamedTuple):
    plan: Plan
    made_of: str = ""
    young: bool = False
