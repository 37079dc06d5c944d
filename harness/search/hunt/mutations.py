"""A plan, a little otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tidemark.harness.search.hunt.circumstances import INTERVALS_MS, Circumstances
from tidemark.harness.search.hunt.episodes import with_faults
from tidemark.harness.search.hunt.kinds import Kinds, some_fault, some_target
from tidemark.harness.search.hunt.scenes import some_scene
from tidemark.nemesis import Fault, Plan
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.settings import LONGEST_US, MS

EARLIEST_US = 20 * MS
_AGAIN = 0.5
"""How likely one more change is, after each."""
_OTHERWISE = 0.07
"""How likely a changed plan has other circumstances too."""
_LONGEST = 4
"""So many times the longest wait a fault may be stretched to: who is away for longer has more to fetch than a run waits for."""
_KEPT_FOR_SCENES = 8
"""So many faults of a plan may stay beside a scene that comes in, which has up to seven."""


@dataclass(slots=True)
class Draft:
    """A plan that is being changed.

    Attributes:
        rng: for all draws.
        plan: all of it but its faults.
        faults: those it will have, in any order.
        moments: times in µs at which something rare happened in its run.
        other: another plan, to take faults from.
    """

    rng: Random
    plan: Plan
    faults: list[Fault]
    moments: Sequence[int]
    other: Plan

    def change_one(self, change: Callable[[Fault], Fault]) -> None:
        """Change one of the faults, if there are any."""
        if self.faults:
            place = self.rng.randrange(len(self.faults))
            self.faults[place] = change(self.faults[place])

    def moment(self) -> int:
        """Just after something rare happened, now and then before."""
        rng = self.rng
        at = rng.choice(self.moments) + int(MS * 200 ** rng.random()) - (50 * MS if rng.random() < 0.2 else 0)
        return max(at, EARLIEST_US)


class Mutations:
    """Draws changes.

    Args:
        kinds: of fault that may come in.
        circumstances: that may come in their stead.
    """

    def __init__(self, kinds: Kinds, circumstances: Circumstances) -> None:
        self._kinds = kinds
        self._circumstances = circumstances

    def of(self, rng: Random, plan: Plan, moments: Sequence[int], other: Plan) -> Plan:
        """A changed plan; see :class:`Draft` for the arguments."""
        draft = Draft(rng, plan, list(plan.faults), moments, other)
        changes = (
            *(self._strike_at_moment,) * (4 if moments else 0),
            *((self._play_at_moment,) if moments else ()),
            *(self._move,) * 3,
            *(self._stretch,) * 2,
            *(self._retarget,) * 2,
            self._other_kind,
            *(self._drop,) * 2,
            self._again,
            self._right_after,
            self._splice,
            self._busier,
        )
        while True:
            rng.choice(changes)(draft)
            if rng.random() >= _AGAIN:
                break
        if rng.random() < _OTHERWISE:
            draft.plan = self._circumstances.otherwise(rng, draft.plan)
        if rng.random() < 0.5:
            draft.plan = replace(draft.plan, noise_seed=rng.randrange(1 << 48))
        return with_faults(draft.plan, draft.faults)

    def _strike_at_moment(self, draft: Draft) -> None:
        """What has just happened may be what an ordinary failure turns into a loss."""
        kind = self._kinds.any(draft.rng)
        role = "leader" if kind in self._kinds.failures else None
        draft.faults.append(some_fault(draft.rng, kind, draft.moment(), draft.plan.cluster, role=role))

    def _play_at_moment(self, draft: Draft) -> None:
        """The same with a scene."""
        draft.faults = draft.faults[:_KEPT_FOR_SCENES]
        draft.faults += some_scene(draft.rng, self._kinds, draft.plan.cluster, draft.moment())

    def _move(self, draft: Draft) -> None:
        by = int(draft.rng.gauss(0, MS * 100 ** draft.rng.random()))
        draft.change_one(lambda fault: replace(fault, at_us=max(fault.at_us + by, EARLIEST_US)))

    def _stretch(self, draft: Draft) -> None:
        rng, longest = draft.rng, _LONGEST * draft.plan.cluster.settings.longest_wait_us

        def stretched(fault: Fault) -> Fault:
            if fault.amount and rng.random() < 0.3:
                most = LONGEST_US if fault.row.amount is None else fault.row.amount.most_of(fault.amount)
                amount = int(fault.amount * 4 ** rng.uniform(-1, 1))
                return replace(fault, amount=min(max(amount, 1), most))
            return replace(fault, lasts_us=min(int(fault.lasts_us * 4 ** rng.uniform(-1, 1)), longest))

        draft.change_one(stretched)

    def _retarget(self, draft: Draft) -> None:
        target, pick = some_target(draft.rng, draft.plan.cluster), draft.rng.randrange(12)
        draft.change_one(lambda fault: replace(fault, target=target, pick=pick))

    def _other_kind(self, draft: Draft) -> None:
        rng, kind = draft.rng, self._kinds.any(draft.rng)
        draft.change_one(lambda fault: some_fault(rng, kind, fault.at_us, draft.plan.cluster, fault.lasts_us or None))

    def _drop(self, draft: Draft) -> None:
        if len(draft.faults) > 1:
            del draft.faults[draft.rng.randrange(len(draft.faults))]

    def _again(self, draft: Draft) -> None:
        """The same a little later."""
        if draft.faults:
            fault = draft.rng.choice(draft.faults)
            draft.faults.append(replace(fault, at_us=fault.at_us + int(MS * 300 ** draft.rng.random())))

    def _right_after(self, draft: Draft) -> None:
        """Another failure of the same broker, as soon as it is over one."""
        rng = draft.rng
        lasting = [place for place, fault in enumerate(draft.faults) if fault.lasts_us]
        if not lasting:
            return
        place = rng.choice(lasting)
        fault = draft.faults[place]
        if not fault.target[1:].isdecimal():
            target = f"b{rng.choice(draft.plan.cluster.broker_ids())}"
            fault = draft.faults[place] = replace(fault, target=target)
        at = fault.at_us + fault.lasts_us + log_uniform(rng, MS, 80 * MS)
        failure = some_fault(rng, rng.choice(self._kinds.failures), at, draft.plan.cluster)
        draft.faults.append(replace(failure, target=fault.target))

    def _splice(self, draft: Draft) -> None:
        """Some of another plan's faults come in."""
        others = draft.other.faults
        if others:
            begin = draft.rng.randrange(len(others))
            draft.faults += others[begin : begin + draft.rng.choice((1, 2, 3))]

    def _busier(self, draft: Draft) -> None:
        interval_us, batch = draft.rng.choice(INTERVALS_MS) * MS, draft.rng.choice((1, 1, 3, 10))
        draft.plan = replace(draft.plan, workload=replace(draft.plan.workload, interval_us=interval_us, batch=batch))
