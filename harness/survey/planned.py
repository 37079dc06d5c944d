"""Which runs a survey has: every system meets the same plans of every kind of trouble."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.harness.soak.planned import PlannedRun
from tidemark.harness.survey.about import about
from tidemark.harness.survey.entrants import Entrant
from tidemark.harness.survey.troubles import POWER, plan_of
from tidemark.harness.systems.system import SystemRefusalError


def planned_runs(
    entrants: Sequence[Entrant], troubles: Sequence[str], *, plans: int, seed: int, time_scale: float | None = None
) -> list[PlannedRun]:
    """All of them in the order of work: plan by plan, so that what is not finished tells of all systems and troubles.

    A system that stands beside another of them, and syncs more, meets power losses only: what it does shows nowhere else.

    Args:
        entrants: the systems.
        troubles: kinds of trouble.
        plans: of each kind.
        seed: of the plans.
        time_scale: all times of a plan are multiplied by this; by what each system needs, unless told otherwise.
    """
    names = {one.name for one in entrants}
    return [
        _planned(one, trouble, seed, index, time_scale)
        for index in range(plans)
        for one in entrants
        for trouble in troubles
        if about(one).repairs not in names or trouble.startswith(POWER)
    ]


def _planned(one: Entrant, trouble: str, seed: int, index: int, time_scale: float | None) -> PlannedRun:
    plan = plan_of(trouble, seed, index, one.kind).scaled(time_scale or one.system.time_scale)
    refused = ""
    try:
        one.system.check(plan, one.protocol())
    except SystemRefusalError as error:
        refused = str(error)
    return PlannedRun(one.name, one.variant, trouble, plan, refused)
