"""A plan's faults as a timeline for people: what was planned, and what it hit when it struck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checkers.history import History
from harness.report.words import seconds
from nemesis.fault import KINDS
from nodes.core.messages import CONTROLLER


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


def fault_lines(plan: Mapping[str, Any], history: History) -> list[FaultLine]:
    """The timeline of all faults, in the plan's order."""
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
        until = heals.get(index, start + int(fault.get("lasts_us", 0)))
        left = 100 * min(start / end, 1)
        lines.append(
            FaultLine(
                number=index + 1,
                kind=str(fault["kind"]),
                meaning=KINDS.get(fault["kind"], ""),
                planned=_planned(fault),
                struck=seconds(at[0], 3) if at else "did not strike",
                hit=_hit(at[1]) if at else "–",
                lasts=f"{seconds(until - start, 3)}" if at and until > start else "–",
                left=round(left, 2),
                width=round(max(min(100 * (until - start) / end, 100 - left), 0.6), 2) if at else 0.0,
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


def _hit(detail: Mapping[str, Any]) -> str:
    """Whom it hit."""
    nodes = detail.get("nodes") or [detail.get("node", "?")]
    if nodes == [CONTROLLER]:
        return "the controller"
    words = f"broker {', '.join(map(str, nodes))}"
    if detail.get("role") and detail.get("partition"):
        words += f" ({detail['role']} of {detail['partition']})"
    if detail.get("replicas"):
        words += f", replicas to be {', '.join(map(str, detail['replicas']))}"
    return words
