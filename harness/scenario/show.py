"""Prints a scenario's run: every step with all replicas below each other, then what came out and whether it had to.

The high watermark is the bar in a log: what is left of it is committed, as far as that replica knows. What a step changed is
bold.
"""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.harness.runs.shown_as import shown_as
from tidemark.harness.scenario.compare import describe
from tidemark.harness.scenario.expectations import epochs
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.play import ScenarioOutcome, Scene, variants_of
from tidemark.harness.scenario.records import compact
from tidemark.harness.scenario.snapshots import ReplicaSnapshot

_ROLE_STYLE = {"leader": "green", "down": "red", "no leader": "yellow"}
_VERDICT_STYLE = {
    "valid": "green",
    "invalid": "red",
    "unknown": "yellow",
    "violation": "red",
    "permitted": "yellow",
    "near-miss": "yellow",
    "informational": "dim",
}
_COLUMNS = ("", "role", "epoch", "log (│ = HW)", "LEO", "HW", "epochs")


def show_outcome(outcome: ScenarioOutcome, console: Console) -> None:
    """The whole run."""
    scenario = outcome.scenario
    console.print(Text(f"{scenario.title}", style="bold"))
    console.print(Text(f"{scenario.name} under {shown_as(outcome.history.meta)} · {scenario.source}", style="dim"))
    if scenario.about:
        console.print(Text(scenario.about))
    console.print(
        Text("A record is EPOCH:NAME, at the offset of its place; epochs are EPOCH@START OFFSET.", style="dim")
    )
    before: Scene | None = None
    for scene in outcome.narrative:
        if scene.number or scenario.given:
            show_scene(scenario, scene, before, console)
        before = scene
    show_end(outcome, console)


def in_names(scenario: Scenario, message: str) -> str:
    """A checker's sentence with the script's names for records and brokers.

    Checkers know numbers only; their sentences say ``record 2``, ``records: 2 (send``, and ``broker 1``.
    """
    name, broker = scenario.records.name, scenario.broker_name
    message = re.sub(r"\b([Rr]ecord) (\d+)", lambda m: f"{m[1]} {name(int(m[2]))}", message)
    message = re.sub(r"\b(\d+) (?=\((?:send|poll|final|read))", lambda m: f"{name(int(m[1]))} ", message)
    return re.sub(r"\b([Bb]roker) (\d+)", lambda m: f"{m[1]} {broker(int(m[2]))}", message)


def show_scene(scenario: Scenario, scene: Scene, before: Scene | None, console: Console) -> None:
    """One step, with all replicas after it; bold is what differs from the scene before."""
    console.print()
    number = f"{scene.number}. " if 0 < scene.number <= len(scenario.steps) else ""
    console.print(Text(f"{number}{scene.words}", style="bold"))
    table = Table(*_COLUMNS, box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for place, state in enumerate(scene.replicas):
        row = row_of(scenario, state)
        old = row_of(scenario, before.replicas[place]) if before is not None else row
        style = _ROLE_STYLE.get(state.role, "")
        cells = [Text(cell, style="" if cell == was else "bold") for cell, was in zip(row, old, strict=True)]
        cells[1].stylize(style)
        table.add_row(*cells)
    console.print(table)


def row_of(scenario: Scenario, state: ReplicaSnapshot) -> tuple[str, ...]:
    """The cells of one replica."""
    return (
        scenario.broker_name(state.broker),
        f"{state.role}, paused" if state.paused else state.role,
        "–" if state.epoch < 0 else str(state.epoch),
        (f"from {state.start}: " if state.start else "") + compact(state.log, mark=state.hw - state.start),
        str(state.leo),
        str(state.hw),
        epochs(state.cache),
    )


def show_end(outcome: ScenarioOutcome, console: Console) -> None:
    """What came out, and whether it had to."""
    scenario, verdict = outcome.scenario, outcome.verdict
    console.print()
    console.print(Text("Truncations: ", style="bold") + Text(outcome.summary["truncations"]))
    for broker, asked in outcome.summary["questions"].items():
        console.print(Text(f"{broker} asked its leader: ", style="bold") + Text("; ".join(asked)))
    words = f"{verdict.valid}, judged by the promise {verdict.contract}"
    broken = verdict.broken()
    words += f"; what was lost breaks {', '.join(broken)}" if broken else ""
    console.print(Text("Verdict: ", style="bold") + Text(words, style=_VERDICT_STYLE[verdict.valid]))
    if verdict.unknown_because:
        console.print(Text(f"  {verdict.unknown_because}"))
    for anomaly in verdict.anomalies:
        line = Text(f"  {anomaly.verdict} ", style=_VERDICT_STYLE[anomaly.verdict])
        line.append(f"{anomaly.name} {describe(scenario, anomaly)}".rstrip(), style="bold")
        if anomaly.clause:
            line.append(f" ({anomaly.clause})")
        if anomaly.breaks:
            line.append(f", breaks {', '.join(anomaly.breaks)}")
        console.print(line)
        console.print(Text(f"    {in_names(scenario, anomaly.message)}", style="dim"))
    if outcome.expected is None and outcome.matched:
        spoken = ", ".join(variants_of(scenario))
        about = f"; it speaks about {spoken}" if spoken else ", nor for any other variant"
        console.print(Text(f"The script states no outcome for {outcome.variant}{about}."))
    elif outcome.matched:
        console.print(Text(f"As expected: {outcome.verdict.valid}.", style="green"))
    else:
        console.print(Text("Not as expected:", style="bold red"))
        for mismatch in outcome.mismatches:
            console.print(Text(f"  {mismatch}", style="red"))
