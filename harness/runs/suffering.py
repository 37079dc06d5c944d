"""What a plan's faults are to a family of protocols: the same, a counterpart, or nothing, and every difference is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tidemark.nemesis.kinds import by_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.nemesis import Plan
    from tidemark.nemesis.fault import Fault
    from tidemark.nodes.families import Family

UNCLEAN = "unclean.leader.election.enable means nothing: nobody leads without the votes of a majority"
NOBODY_LISTENS = "waiting for an event: nobody hears of events here, and a fault that waits for one strikes at its time"
NO_MIN_ISR = "min.insync.replicas means nothing: a majority of the replicas is what counts"
_NONE: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Suffered:
    """A plan's faults as a family meets them.

    Attributes:
        faults: the plan's, in its order, with what they wait for put in the family's terms.
        left_out: the places of those that cannot be suffered.
        not_suffered, counterparts: what is not there and why, and what is there instead, as sentences.
    """

    faults: tuple[Fault, ...]
    left_out: frozenset[int]
    not_suffered: tuple[str, ...]
    counterparts: tuple[str, ...]

    def told(self) -> dict[str, Any]:
        """For the meta line of the history; empty where nothing differs."""
        told = {"not_suffered": list(self.not_suffered), "counterparts": list(self.counterparts)}
        return {name: sentences for name, sentences in told.items() if sentences}


def suffer(plan: Plan, family: Family, refused: Mapping[int, str] = _NONE) -> Suffered:
    """What the plan's faults are to a family.

    Args:
        plan: the faults.
        family: of the protocol.
        refused: place of a fault in the plan → why a system cannot suffer that one.
    """
    not_suffered, counterparts = by_kind(family.not_suffered), by_kind(family.counterparts)
    faults: list[Fault] = []
    left_out: set[int] = set()
    missing: list[str] = []
    instead: dict[str, None] = {}
    for index, fault in enumerate(plan.faults):
        event = fault.after.event if fault.after is not None else ""
        heard = family.unheard.get(event, event)
        if fault.kind in not_suffered or index in refused:
            missing.append(f"fault {index}, {fault.kind}: {not_suffered.get(fault.kind) or refused[index]}")
            left_out.add(index)
        elif fault.after is not None and not family.hears:
            instead[NOBODY_LISTENS] = None
            fault = replace(fault, after=None)  # noqa: PLW2901
        elif fault.after is not None and not heard:
            missing.append(f"fault {index}, {fault.kind}: it waits for {event}, which never happens here")
            left_out.add(index)
        else:
            if fault.kind in counterparts:
                instead[f"{fault.kind}: {counterparts[fault.kind]}"] = None
            if fault.after is not None and heard != event:
                instead[f"waiting for {event}: {heard} is waited for"] = None
                fault = replace(fault, after=replace(fault.after, event=heard))  # noqa: PLW2901
        faults.append(fault)
    if not family.has_isr and family.hears:  # nobody knows what counts in a system that is seen from outside
        instead[NO_MIN_ISR] = None
        if plan.cluster.settings.unclean_election:
            missing.append(UNCLEAN)
    return Suffered(tuple(faults), frozenset(left_out), tuple(missing), tuple(instead))
