"""A plan's faults as a timeline for people: what was planned, and what it hit when it struck."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.checkers.history.history import History
from tidemark.harness.report.fault_words import as_planned
from tidemark.harness.report.words import seconds
from tidemark.nemesis.kinds import is_over_at_once
from tidemark.nodes.core.messages import CONTROLLER


@dataclass(frozen=True, slots=True)
class FaultLine:
    """One fault of the plan; times are words, `left` and `width` are percentages of the run for the drawn bar."""

    number: int
    kind: str
    meaning: str
    planned: str
    struck: str
    hit: str
    lasts: str
    left: float
    width: float
    decided: bool = False


def fault_lines(plan: Mapping[str, Any], history: History, deciding: Collection[int] = ()) -> list[FaultLine]:
    """The timeline of all faults, in the plan's order; `deciding` has the places of those that decided."""
    end = max(int(history.meta.get("end_us", 0)), int(plan.get("faults_end_us", 0)), 1)
    strikes, heals = {}, {}
    for time, action, index, _kind, detail in history.nemesis:
        if action == "strike":
            strikes[index] = (time, detail)
        elif index >= 0:
            heals[index] = time
    lines = []
    for index, fault in enumerate(plan.get("faults", ())):
        at = strikes.get(index)
        start = at[0] if at else int(fault["at_us"])
        lasts = 0 if at and is_over_at_once(fault["kind"], at[1]) else int(fault.get("lasts_us", 0))
        until = heals.get(index, start + lasts)
        left = 100 * min(start / end, 1)
        lines.append(
            FaultLine(
                number=index + 1,
                kind=str(fault["kind"]),
                meaning=as_planned(fault),
                planned=_planned(fault),
                struck=seconds(at[0], 3) if at else "did not strike",
                hit=whom_it_hit(at[1]) if at else "–",
                lasts=f"{seconds(until - start, 3)}" if at and until > start else "at once" if at else "–",
                left=round(left, 2),
                width=round(max(min(100 * (until - start) / end, 100 - left), 0.6), 2) if at else 0.0,
                decided=index in deciding,
            )
        )
    return lines


def _planned(fault: Mapping[str, Any]) -> str:
    """What the plan says: a time, or an event to wait for."""
    target = str(fault.get("target", "leader"))
    after = fault.get("after")
    if not after:
        return f"{target}, at {seconds(fault['at_us'], 3)}"
    where = f" at broker {after['node']}" if after.get("node") else ""
    nth = after.get("nth", 1)
    return f"{target}, at event “{after['event']}” number {nth}{where} after {seconds(fault['at_us'], 3)}"


def whom_it_hit(detail: Mapping[str, Any]) -> str:
    """The brokers that a strike hit, by what the nemesis noted of it: `broker 3 (follower of t-0)`."""
    nodes = detail.get("nodes") or [detail.get("node", "?")]
    if nodes == [CONTROLLER]:
        return "the controller"
    words = f"broker{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
    if detail.get("role", "any") != "any" and detail.get("partition"):
        words += f" ({detail['role']} of {detail['partition']})"
    if "then" in detail:
        words += f", then broker {detail['then']}"
    if "deaf" in detail:
        words += f" (broker {detail['deaf']} deaf to the controller)"
    if detail.get("replicas"):
        words += f", replicas to be {', '.join(map(str, detail['replicas']))}"
    return words
