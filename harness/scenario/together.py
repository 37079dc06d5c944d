"""A scenario under several variants, told once: the first run whole, and of the others only what differs from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import Final

from rich.console import Console
from rich.text import Text

from tidemark.harness.scenario.play import ScenarioOutcome, Scene
from tidemark.harness.scenario.show import row_of, show_end, show_outcome, show_scene

_TIME: Final = re.compile(r"\d+\.\d{6} s")


def show_together(outcomes: Sequence[ScenarioOutcome], console: Console) -> None:
    """Variants whose runs are the same share one telling; of each further kind of run the steps from the first that differs."""
    groups: list[list[ScenarioOutcome]] = []
    for outcome in outcomes:
        same = next((group for group in groups if _same(group[0], outcome)), None)
        if same is None:
            groups.append([outcome])
        else:
            same.append(outcome)
    for place, group in enumerate(groups):
        if place:
            console.print()
            nearest = max(groups[:place], key=lambda told: _alike_until(told[0], group[0]))
            _show_difference(nearest[0], group, console)
        else:
            show_outcome(group[0], console)
            _also(group, console)


def _alike_until(one: ScenarioOutcome, other: ScenarioOutcome) -> int:
    """How many scenes are the same, as they are shown."""
    pairs = zip(one.narrative, other.narrative, strict=False)
    differing = (place for place, (mine, theirs) in enumerate(pairs) if not _shown_alike(one, mine, theirs))
    return next(differing, min(len(one.narrative), len(other.narrative)))


def _shown_alike(outcome: ScenarioOutcome, one: Scene, other: Scene) -> bool:
    rows = [[row_of(outcome.scenario, state) for state in scene.replicas] for scene in (one, other)]
    return (one.number, one.words) == (other.number, other.words) and rows[0] == rows[1]


def _same(one: ScenarioOutcome, other: ScenarioOutcome) -> bool:
    """The same scenes and the same end, as they are shown."""
    return (
        one.scenario.name == other.scenario.name
        and len(one.narrative) == len(other.narrative) == _alike_until(one, other)
        and _end(one) == _end(other)
    )


def _end(outcome: ScenarioOutcome) -> str:
    """What came out, as it is shown, without times, which differ a little from variant to variant."""
    text = StringIO()
    show_end(outcome, Console(file=text, width=10_000))
    return _TIME.sub("", text.getvalue())


def _also(group: Sequence[ScenarioOutcome], console: Console) -> None:
    if len(group) > 1:
        console.print(
            Text(f"The same, step by step, under {', '.join(one.variant for one in group[1:])}.", style="bold")
        )


def _show_difference(first: ScenarioOutcome, group: Sequence[ScenarioOutcome], console: Console) -> None:
    outcome = group[0]
    names = ", ".join(one.variant for one in group)
    console.print(Text(f"{outcome.scenario.name} under {names}", style="bold"))
    scenes = list(outcome.narrative)
    parted = _alike_until(first, outcome)
    if parted == len(scenes) == len(first.narrative):
        console.print(Text(f"Every step as under {first.variant}; the end differs.", style="dim"))
    elif parted:
        last = scenes[parted - 1]
        until = f"up to step {last.number}, {last.words!r}," if last.number else "at first"
        console.print(Text(f"As under {first.variant} {until} and then:", style="dim"))
    before: Scene | None = scenes[parted - 1] if parted else None
    for scene in scenes[parted:]:
        show_scene(outcome.scenario, scene, before, console)
        before = scene
    show_end(outcome, console)
