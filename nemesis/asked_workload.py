"""How busy clients are to be, where somebody asks for it: it takes the place of what a plan's draw would choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tidemark.nemesis.plan import Plan, PlanError

DRAWN: Final = "drawn"


@dataclass(frozen=True, slots=True)
class AskedWorkload:
    """What was asked for; None is left to chance.

    Attributes:
        producers: number of producers.
        rate: sends a second of each producer, on average.
        batch: the most records in a send.
        duration: seconds until everything is healed.
    """

    producers: int | None = None
    rate: float | None = None
    batch: int | None = None
    duration: float | None = None

    def __bool__(self) -> bool:
        """Whether anything was asked for."""
        return bool(self.to_json())

    def of(self, plan: Plan) -> Plan:
        """The plan as it was asked for: the same faults, each as long as before, at the same shares of another time.

        Raises:
            PlanError: nobody can run it.
        """
        workload: dict[str, Any] = {
            name: value for name, value in self.to_json().items() if name in ("producers", "batch")
        }
        if self.rate is not None:
            workload["interval_us"] = max(round(1_000_000 / self.rate), 1)
        if workload:  # then what chance would have sent at which time is not asked for
            plan = replace(plan, workload=replace(plan.workload, **workload, sends=None))
        if self.duration is None:
            return plan
        end_us, before = round(self.duration * 1_000_000), max(plan.faults_end_us, 1)
        faults = tuple(replace(fault, at_us=fault.at_us * end_us // before) for fault in plan.faults)
        return replace(plan, faults=faults, faults_end_us=end_us)

    def options(self) -> list[str]:
        """As they are typed: ``--producers 5``."""
        return [word for name, value in self.to_json().items() for word in (f"--{name}", f"{value:.15g}")]

    def to_json(self) -> dict[str, float]:
        """What was asked for, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AskedWorkload:
        """Read what `to_json` wrote.

        Raises:
            PlanError: it is something else.
        """
        try:
            return cls(**data)
        except TypeError as error:
            raise PlanError(f"not what can be asked of a workload: {error}") from None
