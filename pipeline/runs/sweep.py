"""A sweep: one campaign over the plans of many cells, each with settings of its own. Plans that are the same in several cells are
one plan of the campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tidemark.nemesis import AskedWorkload, Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Cell:
    """The settings of one cell; `at` names those that are swept, and their values, as they are typed."""

    at: tuple[tuple[str, str], ...]
    cluster: ClusterSpec
    profile: str = "intact"
    workload: AskedWorkload = field(default_factory=AskedWorkload)
    intensity: float = 1

    def plan(self, seed: int, index: int) -> Plan:
        """The cell's plan of this number.

        Raises:
            PlanError: nobody can run it.
        """
        return self.workload.of(generate_plan(seed, index, self.profile, self.cluster, self.intensity))

    @property
    def words(self) -> str:
        """`min-isr 2, intensity 0.5`."""
        return ", ".join(f"{name} {value}" for name, value in self.at)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        """Read what `dataclasses.asdict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        return cls(
            tuple((name, value) for name, value in data["at"]),
            ClusterSpec.from_json(data["cluster"]),
            data["profile"],
            AskedWorkload.from_json(data["workload"]),
            data["intensity"],
        )


@dataclass(frozen=True, slots=True)
class Places:
    """Where the plans of a sweep come from, and where those of a cell are.

    Attributes:
        of_plan: for each plan of the campaign the first cell that has it, and its number there.
        in_cell: for each cell the plans of the campaign that its own are, in their order.
    """

    of_plan: tuple[tuple[int, int], ...]
    in_cell: tuple[tuple[int, ...], ...]


_LAST: dict[tuple[int, tuple[Cell, ...], int], Places] = {}
"""Those of the sweep that is asked about, for each of its plans."""


def plans_in_all(seed: int, cells: Sequence[Cell], of_each: int) -> int:
    """How many different plans the cells have together, with so many in each."""
    walked = _walked(seed, tuple(cells), of_each, None)
    _LAST.clear()
    _LAST[seed, tuple(cells), len(walked.of_plan)] = walked
    return len(walked.of_plan)


def places(seed: int, cells: Sequence[Cell], plans: int) -> Places:
    """Where the plans are, if there are so many different ones."""
    key = seed, tuple(cells), plans
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _walked(seed, tuple(cells), None, plans)
    return _LAST[key]


def _walked(seed: int, cells: tuple[Cell, ...], of_each: int | None, plans: int | None) -> Places:
    """All cells' first plan, then their second, and so on: with more of them all that were there keep their numbers."""
    of_plan: list[tuple[int, int]] = []
    in_cell: list[list[int]] = [[] for _ in cells]
    for index in count():
        if index == of_each or (plans is not None and len(of_plan) >= plans):
            break
        known: dict[Plan, int] = {}
        for place, cell in enumerate(cells):
            plan = cell.plan(seed, index)
            if plan not in known:
                known[plan] = len(of_plan)
                of_plan.append((place, index))
            in_cell[place].append(known[plan])
    return Places(tuple(of_plan), tuple(map(tuple, in_cell)))


def grid(axes: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every choice of a value for each axis, the last axis turning fastest."""
    chosen: list[tuple[tuple[str, str], ...]] = [()]
    for name, values in axes.items():
        chosen = [(*before, (name, value)) for before in chosen for value in values]
    yield from chosen
