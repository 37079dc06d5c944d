"""The published page about random plans on real brokers (docs/results/soak.md), from what is kept of the runs.

The same results give the same page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tidemark.harness.soak.kept_run import INVALID, MISSING, REFUSED, UNKNOWN, KeptRun
from tidemark.harness.soak.tally import listed, tally


def results_page(runs: Iterable[KeptRun], command: str) -> str:
    """The page, as Markdown.

    Args:
        runs: those that are missing or refused as well.
        command: what makes the page.
    """
    ordered = sorted(runs, key=lambda run: (_numbers(run.system), run.profile, run.seed, run.plan))
    return "\n".join(_lines(ordered, command)).rstrip("\n") + "\n"


def _numbers(system: str) -> list[list[int]]:
    return [[int(number) for number in re.findall(r"\d+", part)] for part in system.split("@")]


def _lines(runs: Sequence[KeptRun], command: str) -> Iterator[str]:
    yield from (
        "# Random plans on real Kafka",
        "",
        "Random fault plans ([faults](../faults.md#random-plans)) on brokers of Apache Kafka; every system meets the same plans",
        "of a profile. *Violated*: the promise that its protocol is judged by ([anomalies](../anomalies.md)) was broken.",
        "*Permitted*: something was lost, or read twice, that this promise permits. *Near miss*: nothing is lost, and one",
        "election more could lose what is acknowledged. Each is told in runs that had at least one. *Unknown*: nothing",
        "happened that could have gone wrong, or the run broke off, or its evidence was not",
        "understood; it counts for nothing. Plans without a violation do not prove that there is none. This page is written by",
        "",
        f"    {command}",
        "",
        "which goes on where it was ended.",
        "",
    )
    yield from _summary(runs)
    yield from (
        "| system | profile | runs | valid | violated | unknown | violated, by kind | near misses | permitted, by kind |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    for one in tally(runs):
        counts = f"{one.runs} | {one.valid} | {one.invalid} | {one.unknown}"
        kinds = " | ".join(listed(kinds) for kinds in (one.violations, one.near_misses, one.permitted))
        yield f"| {one.system} | `{one.profile}` | {counts} | {kinds} |"
    yield ""
    yield from _violated(runs)
    yield from _reasons(runs, UNKNOWN, "Unknown", "runs")
    yield from _reasons(runs, REFUSED, "Cannot be run", "plans")


def _summary(runs: Sequence[KeptRun]) -> Iterator[str]:
    done = [run for run in runs if run.valid not in (MISSING, REFUSED)]
    missing = sum(run.valid == MISSING for run in runs)
    if done:
        days = sorted({run.played[:10] for run in done})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        commits = ", ".join(f"`{commit}`" for commit in sorted({run.commit for run in done}))
        acked, hours = sum(run.acked for run in done), sum(run.seconds for run in done) / 3600
        yield f"{len(done)} runs in {hours:.1f} hours, {acked:,} records acknowledged; {when}, by Tidemark {commits}."
    if missing:
        yield f"{missing} runs are still to come."
    yield ""


def _violated(runs: Sequence[KeptRun]) -> Iterator[str]:
    """Which plans, so that somebody can look."""
    found = [run for run in runs if run.valid == INVALID]
    if not found:
        return
    yield from (
        "## Runs with a violation",
        "",
        "The same plan again, which need not come out the same:",
        "`tidemark run --system SYSTEM --profile PROFILE --seed SEED --index PLAN`.",
        "",
        "| system | profile | seed | plan | violations |",
        "|---|---|---|---|---|",
    )
    for run in found:
        yield f"| {run.system} | `{run.profile}` | {run.seed} | {run.plan} | {listed(run.violations)} |"
    yield ""


def _reasons(runs: Sequence[KeptRun], standing: str, heading: str, what: str) -> Iterator[str]:
    found = Counter((run.system, run.profile, run.why) for run in runs if run.valid == standing)
    if not found:
        return
    yield from (f"## {heading}", "", f"| system | profile | {what} | why |", "|---|---|---|---|")
    for (system, profile, why), count in found.items():
        yield f"| {system} | `{profile}` | {count} | {_escaped(why)} |"
    yield ""


def _escaped(text: str) -> str:
    """A text that is no Markdown, in a cell."""
    return re.sub(r"([|*_<>`])", r"\\\1", " ".join(text.split()))
