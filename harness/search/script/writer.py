"""From a plan to a script that shows the same anomaly for the same cause, or a sentence that says why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tidemark.checkers import check
from tidemark.harness.scenario import ScenarioOutcome
from tidemark.harness.search.script.draft import WAYS, Line, draft, without
from tidemark.harness.search.script.moments import Story, story_of
from tidemark.harness.search.script.text import Head, script, sentence
from tidemark.harness.search.script.trying import HARD_WORLDS, Trying
from tidemark.harness.search.script.witness import witness
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.harness.search.shrink.ddmin import ddmin
from tidemark.nemesis import Plan
from tidemark.nemesis.kind import TakeBack
from tidemark.nodes.core.variant import parse_variant

END_US = 1 << 60
MOST_SHORTENED = 2
"""So many of the sturdiest drafts are made shorter."""
TIMES = ("", "fetch wait 2 s, request timeout 4 s")
"""What the cluster line says of times beside the session: under the second what lasts as long as a fetch waits can be caught."""
TELLING = re.compile(r"until .* (leads|follows|has LEO|has HW) ")
"""Conditions that tell what replicas do."""


class NoScriptError(ValueError):
    """No script that was tried shows what the plan shows; the message is one sentence."""


class Written(NamedTuple):
    """A script.

    Attributes:
        text: with the outcome that its run had.
        played: that run, in the best of worlds.
        sturdy, of: in how many of so many worlds with slow hands and slow messages it shows the same.
        plays: how often scripts were played for it.
    """

    text: str
    played: ScenarioOutcome
    sturdy: int
    of: int
    plays: int


Tell = Callable[[str], None]
"""Is told what is being tried."""


def write_script(
    plan: Plan,
    variant: str,
    cause: Cause,
    *,
    contract: str | None = None,
    name: str = "found-by-hunt",
    tell: Tell = lambda _: None,
) -> Written:
    """Write a plan as a script, play it, and make it as short as it can be made.

    Args:
        plan: shows the anomaly in the simulator, as shrinking leaves it.
        variant: the protocol.
        cause: the anomaly, and why it came about.
        contract: the promise to judge by; the variant's own by default.
        name: of the script.
        tell: hears what is being done.

    Raises:
        NoScriptError: no script shows it.
    """
    if any(isinstance(fault.row.doing, TakeBack) for fault in plan.faults):
        raise NoScriptError("a script cannot take a reassignment back as the plan does")
    seen = witness(plan, parse_variant(variant), contract)
    verdict = check(seen.history)
    anomaly = next((one for one in verdict.named(cause.name) if cause in causes_of(one, verdict, seen.history)), None)
    if anomaly is None:
        raise NoScriptError("the plan does not show it")
    partition = anomaly.partition or "t-0"
    trying = Trying(variant, contract, cause)
    found: _Found | None = None
    for until_us in (anomaly.time, END_US):
        story = story_of(seen, partition, until_us)
        head = _head(plan, variant, cause, story, name)
        found = _best(story, head, trying, tell)
        if found is not None:
            break
    if found is None:
        raise NoScriptError(
            f"none of {trying.plays} scripts shows it again: what the plan needs is a matter of exact moments, or of messages "
            "that scripts cannot hold back"
        )
    played = trying.shown(script(found.head, found.lines, variant))
    assert played is not None  # noqa: S101 - the last that was shown
    text = script(found.head, found.lines, variant, played)
    return Written(text, played, found.sturdy, len(HARD_WORLDS), trying.plays)


class _Found(NamedTuple):
    """A draft that shows it, and in how many hard worlds."""

    head: Head
    lines: list[Line]
    sturdy: int


def _best(story: Story, head: Head, trying: Trying, tell: Tell) -> _Found | None:
    """Of the ways to write it, made as short as they can be made, the one that is shown in most of the hard worlds."""
    best: _Found | None = None
    for times in TIMES:
        tell("looking for a script")
        shown = []
        for lines in dict.fromkeys(tuple(draft(story, way)) for way in WAYS):
            one = _Found(head._replace(times=times), list(lines), 0)
            text = script(one.head, lines, trying.variant)
            if trying.shows(text):
                shown.append(one._replace(sturdy=trying.sturdy(text)))
        for one in sorted(shown, key=lambda one: -one.sturdy)[:MOST_SHORTENED]:
            tell("making the script shorter")
            shorter = _shorter(one, trying)
            if best is None or (shorter.sturdy, -len(shorter.lines)) > (best.sturdy, -len(best.lines)):
                best = shorter
            if shorter.sturdy == len(HARD_WORLDS) or trying.is_enough:
                return best
    return best


def _shorter(found: _Found, trying: Trying) -> _Found:
    """Without the lines that it is shown without in no fewer of the hard worlds, gates first; but with what tells the story."""
    head, lines, least = found

    def is_shown(candidate: list[Line]) -> bool:
        nonlocal least
        if trying.is_enough:
            return False
        text = script(head, candidate, trying.variant)
        sturdy = trying.sturdy(text, least) if trying.shows(text) else -1
        least = max(least, sturdy)
        return sturdy == least

    def fewer(lines: list[Line]) -> list[Line]:
        for kinds in (("gate", "deed"), ("until",), ("gate", "deed", "until")):
            units = list(dict.fromkeys(line.unit for line in lines if line.kind in kinds))

            def holds(left: list[int], lines: list[Line] = lines, units: list[int] = units) -> bool:
                return is_shown(without(lines, set(units) - set(left)))

            left = ddmin(units, holds)
            lines = without(lines, set(units) - set(left))
        return lines

    lines = fewer(lines)
    sturdier = _sturdier(found.lines, lines, is_shown, lambda: least)
    if sturdier != lines:
        lines = fewer(sturdier)
    return _Found(head, _told(found.lines, lines, is_shown), least)


def _sturdier(
    every: list[Line], lines: list[Line], is_shown: Callable[[list[Line]], bool], least: Callable[[], int]
) -> list[Line]:
    """With lines again that it is shown with in more of the hard worlds."""
    units = {line.unit for line in lines}
    for unit in dict.fromkeys(line.unit for line in every):
        before = least()
        if before == len(HARD_WORLDS):
            break
        candidate = [one for one in every if one.unit in units or one.unit == unit]
        if unit not in units and is_shown(candidate) and least() > before:
            units.add(unit)
    return [line for line in every if line.unit in units]


def _told(every: list[Line], lines: list[Line], is_shown: Callable[[list[Line]], bool]) -> list[Line]:
    """The lines with the conditions again that say how the story goes, where they may be waited for."""
    units = {line.unit for line in lines}
    for place, line in enumerate(every):
        ends = not any(one.unit in units and one.kind != "until" for one in every[place:])
        if line.unit in units or not TELLING.search(line.command) or (ends and " leads " not in line.command):
            continue
        candidate = [one for one in every if one.unit in units or one.unit == line.unit]
        if is_shown(candidate):
            units.add(line.unit)
    return [line for line in every if line.unit in units]


def _head(plan: Plan, variant: str, cause: Cause, story: Story, name: str) -> Head:
    about = (
        f"Found by search on the model of {variant}, shrunk, and written from its run, for a person to check. What goes wrong, "
        f"{cause.name}, comes about so: {sentence(cause.facts)}"
    )
    title = f"{cause.name} under {variant}"
    source = f"tidemark hunt (plan {plan.index} of seed {plan.seed})"
    return Head(name, title, source, about, tuple(story.names.values()), plan.cluster)
