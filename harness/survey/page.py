"""The published page: what each system lost, and how long nobody could write, by kind of trouble.

The same results give the same page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from tidemark.harness.soak.kept_run import UNKNOWN
from tidemark.harness.survey.about import about
from tidemark.harness.survey.cells import Cell, Run
from tidemark.harness.survey.entrants import Entrant
from tidemark.harness.survey.troubles import TROUBLES

INTRODUCTION = """\
Every system below met the same plans of trouble, in three containers on one machine, while clients wrote and read. *2 of 5*
says that in two of five runs records were gone that the system had acknowledged. Below it stands how many records these
were, of all that were acknowledged, and the 95 % interval (Wilson) of the share of runs. *Permitted* means that the system
does not promise otherwise; what it promises is quoted [below](#how-each-was-set-and-what-it-promises). A row that says
*synced* is the same system with the one setting that has it write to the disk before it answers. A 0 does not say that
nothing can be lost, only that so many tries did not show it; and nothing here says how fast a system is, or how often its
power fails."""

READ_WITH_CARE = """\
- A power loss takes from NATS and etcd everything that they had not synced, the worst that a disk may do. Of Kafka and of
  our own nodes a share of it survives, drawn for each log. So whether there is a loss can be compared between them; how
  large it is cannot.
- A disk here keeps what was synced, always. A real one may not.
- Plans are short. All their times are multiplied by what a system needs (*times*, below), and so are Kafka's time-outs,
  which the plans set shorter than Kafka's defaults. Seconds of silence tell more about time-outs than about systems.
- The servers share one machine, and are slower than on machines of their own.
- Reads that are out of date are looked for where it can be told: in the logs of Kafka's and our replicas, and in etcd's set.
  NATS shows no high watermark, so nobody looked there."""

NOT_TRIED = """\
- Clocks that jump. NATS and etcd are static Go programs, which load no library that could move their clock.
- Lost and full disks, slow links, and several kinds of trouble at once. `tidemark run` and `tidemark soak` try those.
- More than three servers, more than one log, upgrades, clusters whose members change.
- The power of Kafka's KRaft controller: it is one process here, and goes on.
- Apache Fluss, Redpanda, Pulsar and RabbitMQ: not yet.
- Any setting but the default and the one beside it."""


def anchor(heading: str) -> str:
    """What GitHub and MyST call a heading's place.

    >>> anchor("kafka:4.3.1+log.flush.interval.messages=1, power-all")
    'kafka431logflushintervalmessages1-power-all'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def heading_of(cell: Cell) -> str:
    """Of a cell's story."""
    return f"{cell.system}, {cell.trouble}"


def survey_page(
    entrants: Sequence[Entrant], found: Sequence[Cell], runs: Sequence[Run], command: str, stories: str
) -> str:
    """The page, as Markdown.

    Args:
        entrants: in the order of the rows.
        found: a cell for each system and kind of trouble.
        runs: all of them.
        command: what makes the page.
        stories: the name of the page beside it that tells a run of each cell.
    """
    return "\n".join(_lines(entrants, found, runs, command, stories)).rstrip("\n") + "\n"


def _lines(
    entrants: Sequence[Entrant], found: Sequence[Cell], runs: Sequence[Run], command: str, stories: str
) -> Iterator[str]:
    troubles = [*dict.fromkeys(cell.trouble for cell in found)]
    of = {(cell.system, cell.trouble): cell for cell in found}
    yield from ("# Real systems side by side", "", INTRODUCTION, "", f"    {command}", "")
    yield from _summary(found, runs)
    yield from ("## Acknowledged records that were lost", "")
    yield _row("", *(TROUBLES[trouble].words for trouble in troubles))
    yield _row(*["---"] * (len(troubles) + 1))
    for one in entrants:
        yield _row(about(one).title, *(_lost(of.get((one.name, trouble)), stories) for trouble in troubles))
    yield ""
    for trouble in troubles:
        yield f"- *{TROUBLES[trouble].words}*: {TROUBLES[trouble].about}"
    yield from ("", "## Time without an answer", "")
    yield "Writes that began before the trouble was over and were not acknowledged; below it the longest time without any"
    yield from ("acknowledgement, in the middle run and the worst.", "")
    yield _row("", *(TROUBLES[trouble].words for trouble in troubles))
    yield _row(*["---"] * (len(troubles) + 1))
    for one in entrants:
        yield _row(about(one).title, *(_silent(of.get((one.name, trouble))) for trouble in troubles))
    yield from ("", "## Reads that were out of date", "")
    for one in entrants:
        yield f"- {about(one).title}: {_stale([cell for cell in found if cell.system == one.name])}"
    yield from (
        "",
        "## How each was set, and what it promises",
        "",
        _row("", "set", "promised", "times"),
        "|---|---|---|---|",
    )
    for one in entrants:
        told = about(one)
        yield _row(
            f"{told.title}<br>`{one.name}`", told.settings, f"“{told.promised}”" if told.promised else "", _times(one)
        )
    yield from ("", "## Read with care", "", READ_WITH_CARE)
    yield from ("", "## What was not tried", "", NOT_TRIED, "")
    yield from _reasons(runs, found)


def _row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |".replace("|  |", "| |")


def _summary(found: Sequence[Cell], runs: Sequence[Run]) -> Iterator[str]:
    done = [run for run in runs if run.kept.played]
    if done:
        days = sorted({run.kept.played[:10] for run in done})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        commits = ", ".join(f"`{commit}`" for commit in sorted({run.kept.commit for run in done if run.kept.commit}))
        hours = sum(run.kept.seconds for run in done) / 3600
        acked = sum(cell.acked for cell in found)
        yield f"{len(done)} runs in {hours:.1f} hours, {acked:,} records acknowledged; {when}, by Tidemark {commits}."
    missing = sum(cell.missing for cell in found)
    if missing:
        yield f"{missing} runs are still to come: a cell counts those that were made."
    yield ""


def _lost(cell: Cell | None, stories: str) -> str:
    if cell is None:
        return "not tried"
    if cell.refused:
        return "cannot be run"
    if not cell.runs:
        return "unknown" if cell.unknown else "not tried"
    told = f"[{cell.lossy} of {cell.runs}]({stories}#{anchor(heading_of(cell))})"
    limits = f"{100 * cell.low:.0f} to {100 * cell.high:.0f} %"
    if not cell.lossy:
        return f"{told}<br>0 of {cell.acked:,}<br>{limits}"
    how = (
        "permitted"
        if not cell.broken
        else "against its promise"
        if cell.broken == cell.lossy
        else f"{cell.broken} against its promise"
    )
    return f"**{told}**<br>{cell.lost:,} of {cell.acked:,}<br>{limits}<br>{how}"


def _silent(cell: Cell | None) -> str:
    if cell is None or not cell.runs:
        return "–"
    share = 100 * (1 - cell.answered / cell.asked) if cell.asked else 0.0
    return f"{share:.1f} %<br>{median(cell.silent_us) / 1e6:.1f} s, {cell.silent_us[-1] / 1e6:.1f} s"


def _stale(of_system: Sequence[Cell]) -> str:
    looked, stale = sum(cell.looked for cell in of_system), sum(cell.stale for cell in of_system)
    if not looked:
        return "nobody looked"
    where = [f"{TROUBLES[cell.trouble].words} {cell.stale} of {cell.looked}" for cell in of_system if cell.stale]
    return f"{stale} of {looked} runs" + (f" ({', '.join(where)})" if where else "")


def _times(one: Entrant) -> str:
    return f"× {one.system.time_scale:g}"


def _reasons(runs: Sequence[Run], found: Sequence[Cell]) -> Iterator[str]:
    """Runs that count for nothing, and why."""
    why = Counter(
        (run.planned.system, run.planned.profile, run.kept.why)
        for run in runs
        if run.kept.valid == UNKNOWN and not run.counts
    )
    refused = [(cell.system, cell.trouble, cell.refused) for cell in found if cell.refused]
    if why or refused:
        yield from ("## Runs that count for nothing", "", _row("system", "trouble", "runs", "why"), "|---|---|---|---|")
        for (system, trouble, words), count in sorted(why.items()):
            yield _row(system, trouble, str(count), _escaped(words))
        for system, trouble, words in refused:
            yield _row(system, trouble, "all", _escaped(words))


def _escaped(text: str) -> str:
    """A text that is no Markdown, in a cell."""
    return re.sub(r"([|*_<>`])", r"\\\1", " ".join(text.split()))
