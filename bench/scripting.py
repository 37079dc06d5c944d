"""From plan to script: how many of the shrunk random hits become a script that shows the same cause, and why the others do not."""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import NamedTuple

from bench.shrinking import REPLAYS, RULES, Hit, hits_of
from tidemark.harness.scenario import parse_scenario
from tidemark.harness.search.script import NoScriptError, Written, write_script
from tidemark.harness.search.shrink import Budget, shrink
from tidemark.harness.simulator.execute import execute

BAR = 0.6
"""Share of the hits that must become a script."""


class Outcome(NamedTuple):
    """What became of a shrunk hit: its script, or why there is none."""

    written: Written | None
    why_not: str
    seconds: float


def outcome_of(hit: Hit, variant: str) -> Outcome:
    """Shrink a hit, and write what is left as a script."""
    shrunk = shrink(hit.plan, hit.cause, lambda plan: execute(plan, variant), budget=Budget(REPLAYS))
    assert shrunk is not None, "the same plan under the same noise"
    begun = time.perf_counter()
    try:
        written = write_script(shrunk.after, variant, hit.cause)
    except NoScriptError as error:
        return Outcome(None, str(error), time.perf_counter() - begun)
    return Outcome(written, "", time.perf_counter() - begun)


def commands_of(written: Written) -> int:
    """How many commands a script has."""
    return sum(len(step.commands) for step in parse_scenario(written.text).steps)


def told(name: str, outcomes: list[Outcome]) -> str:
    """A line of figures."""
    done = [one.written for one in outcomes if one.written is not None]
    sturdy = sum(one.sturdy == one.of for one in done)
    half = sum(2 * one.sturdy >= one.of for one in done)
    commands = [commands_of(one) for one in done]
    return (
        f"{name:<11} {len(done)} of {len(outcomes)} became a script; in all hard worlds {sturdy}, in half of them or more {half}; "
        f"{median(commands):g} commands in the median, {max(commands)} at most; {median(o.seconds for o in outcomes):.1f} s in the "
        f"median, {max(o.seconds for o in outcomes):.0f} s at most"
    )


def main() -> None:
    """Print a line for each hit, each rule and all; exit 1 if the bar is missed."""
    everything: list[Outcome] = []
    for variant in RULES:
        outcomes = []
        for hit in hits_of(variant):
            one = outcome_of(hit, variant)
            outcomes.append(one)
            script = one.written
            what = (
                one.why_not
                if script is None
                else f"{commands_of(script)} commands, shown in {script.sturdy} of {script.of}"
            )
            print(f"  {variant} plan {hit.plan.index}: {what}, {one.seconds:.1f} s: {hit.cause}", flush=True)
        print(told(variant, outcomes), flush=True)
        everything += outcomes
    print(told("all", everything))
    if sum(one.written is not None for one in everything) < BAR * len(everything):
        sys.exit(1)
