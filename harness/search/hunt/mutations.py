"""A plan, a little otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.search.hunt.episodes import some_fault, some_target, with_faults
from nodes.core.settings import MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from harness.search.hunt.episodes import Kinds
    from nemesis import Fault, Plan

EARLIEST_US = 20 * MS
_AGAIN = 0.5
"""How likely one more change is, after each."""


class Mutations:
    """Draws changes.

    Args:
        kinds: of fault that may come in.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def of(self, rng: Random, plan: Plan, moments: Sequence[int], other: Plan) -> Plan:
        """A changed plan.

        Args:
            rng: for all draws.
            plan: to be changed.
            moments: times in µs at which something rare happened in its run.
            other: another plan, to take faults from.
        """
        changes = (
            *(self._strike_at_moment,) * (4 if moments else 0),
            *(self._move,) * 3,
            *(self._stretch,) * 2,
            *(self._retarget,) * 2,
            self._other_kind,
            *(self._drop,) * 2,
            self._again,
            self._splice,
            self._busier,
        )
        faults = list(plan.faults)
        while True:
            plan, faults = rng.choice(changes)(rng, plan, faults, moments, other)
            if rng.random() >= _AGAIN:
                break
        if rng.random() < 0.5:
            plan = replace(plan, noise_seed=rng.randrange(1 << 48))
        return with_faults(plan, faults)

    def _strike_at_moment(
        self, rng: Random, plan: Plan, faults: list[Fault], moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        """What has just happened may be what an ordinary failure turns into a loss."""
        at = rng.choice(moments) + int(MS * 200 ** rng.random()) - (50 * MS if rng.random() < 0.2 else 0)
        kind = rng.choice(self._kinds.all)
        role = "leader" if kind in self._kinds.failures else None
        return plan, [*faults, some_fault(rng, kind, max(at, EARLIEST_US), plan.cluster, role=role)]

    def _move(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        def moved(fault: Fault) -> Fault:
            by = int(rng.gauss(0, MS * 100 ** rng.random()))
            return replace(fault, at_us=max(fault.at_us + by, EARLIEST_US))

        return plan, _changed(rng, faults, moved)

    def _stretch(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        def stretched(fault: Fault) -> Fault:
            if fault.amount and rng.random() < 0.3:
                return replace(fault, amount=max(int(fault.amount * 4 ** rng.uniform(-1, 1)), 1))
            return replace(fault, lasts_us=int(fault.lasts_us * 4 ** rng.uniform(-1, 1)))

        return plan, _changed(rng, faults, stretched)

    def _retarget(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        def retargeted(fault: Fault) -> Fault:
            return replace(fault, target=some_target(rng, plan.cluster), pick=rng.randrange(12))

        return plan, _changed(rng, faults, retargeted)

    def _other_kind(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        def another(fault: Fault) -> Fault:
            return some_fault(rng, rng.choice(self._kinds.all), fault.at_us, plan.cluster, fault.lasts_us or None)

        return plan, _changed(rng, faults, another)

    def _drop(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        if len(faults) < 2:
            return plan, faults
        place = rng.randrange(len(faults))
        return plan, faults[:place] + faults[place + 1 :]

    def _again(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        """The same a little later."""
        if not faults:
            return plan, faults
        fault = rng.choice(faults)
        return plan, [*faults, replace(fault, at_us=fault.at_us + int(MS * 300 ** rng.random()))]

    def _splice(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], other: Plan
    ) -> tuple[Plan, list[Fault]]:
        """Some of another plan's faults come in."""
        if not other.faults:
            return plan, faults
        begin = rng.randrange(len(other.faults))
        return plan, [*faults, *other.faults[begin : begin + rng.choice((1, 2, 3))]]

    def _busier(
        self, rng: Random, plan: Plan, faults: list[Fault], _moments: Sequence[int], _other: Plan
    ) -> tuple[Plan, list[Fault]]:
        workload = replace(
            plan.workload, interval_us=rng.choice((10, 20, 60, 120)) * MS, batch=rng.choice((1, 1, 3, 10))
        )
        return replace(plan, workload=workload), faults


def _changed(rng: Random, faults: list[Fault], change: Callable[[Fault], Fault]) -> list[Fault]:
    """With one of them changed."""
    if not faults:
        return faults
    place = rng.randrange(len(faults))
    return [change(fault) if i == place else fault for i, fault in enumerate(faults)]
