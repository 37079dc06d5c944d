"""The published page: what each system lost, and how long nobody could write, by kind of trouble.

The same results give the same page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from tidemark.harness.soak.kept_run import UNKNOWN
from tidemark.harness.survey.about import SAME, about
from tidemark.harness.survey.cells import Cell, Run
from tidemark.harness.survey.entrants import Entrant
from tidemark.harness.survey.troubles import TROUBLES

INTRODUCTION = """\
Tidemark ran each system below in three containers on one machine, had clients write and read, and caused trouble: kills,
partitions, power losses. The first table counts acknowledged records that were gone in the end. *Permitted* means that the
system does not promise otherwise; its promise is quoted [below](#how-each-was-set-and-what-it-promises). A *synced* row is the
same system with the one setting that makes it sync before it acknowledges. A 0 does not prove that nothing can be lost. Nothing
here says how fast a system is, or how often power fails."""

DIFFERS = """\
All systems met the same faults, drawn from one seed. Three things differ between them:

- **Power losses.** NATS, etcd and Fluss lose all data that they had not synced. Kafka and our own nodes lose a part of it, drawn at
  random for each log. So a 0 of Kafka or of our own nodes is weaker, and amounts of lost records cannot be compared.
- **Time.** Tidemark multiplies all times of a plan by a factor of the system, since time-outs differ. Each row of
  [time without an answer](#time-without-an-answer) names it.
- **Number of runs.** Each cell says how many."""

SILENCE = """\
The longest time without any acknowledgement before the faults end: the median of the runs, and the worst run. It includes the
time for which a plan keeps servers down: up to 2.5 s, multiplied by the factor behind the system's name. So rows with different
factors cannot be compared. Failed writes are not counted: some clients wait for an answer, and others retry at once."""

STALE = """\
Runs with a stale read, of the runs in which stale reads were measured. A read of a log is stale if it returns a record at an offset
where another record is committed. A read of etcd's set is stale if it misses an element that was acknowledged before, and that a
later read shows. NATS shows no high watermark, so it was not measured there, nor on Fluss."""

READ_WITH_CARE = """\
- A disk here always keeps what was synced. A real disk may not.
- Kafka's time-outs are shorter here than its defaults, and multiplied by the same factor as the plan.
- NATS' documentation says two things about the crash of one server, both quoted above. We judge by the first, which is stricter: it
  forbids a loss under *power loss of one*, which the second permits. The reference of NATS 2.14 no longer has the first
  ([adding a system](systems.md#nats-jetstream)). By either, losses under power loss of two or of all three are permitted.
- The second warns of what one power loss and a partition do together. No plan here combines them. [A
  script](findings/nats-one-power-loss.md) does, and NATS loses acknowledged records.
- The servers share one machine, and are slower than on machines of their own.
- A kill takes nothing from a disk, so a loss under *kill* counts as a violation. To the letter, Kafka and Fluss promise nothing
  for the second half of *kill*, when no replica is alive. Why Fluss loses then is [a finding](findings/fluss-high-watermark.md)."""

NOT_TRIED = """\
- Clocks that jump. NATS and etcd are static programs, which do not load the library that moves a clock here; whether Fluss' clock
  would move was not measured.
- Lost disks, full disks, slow links, and several kinds of trouble at once. `tidemark run` and `tidemark soak` try those.
- Damaged files (flipped bits, missing tails). They were tried [separately](systems.md#damaged-files).
- More than three servers, more than one log, upgrades, clusters whose members change.
- A power loss of Kafka's KRaft controller, or of Fluss' coordinator and ZooKeeper. Each is a single process here, and no trouble
  strikes it.
- Redpanda, Pulsar and RabbitMQ.
- Losses that need a certain order of events, such as Kafka's [missed reign](findings/missed-reign.md): the plans here are
  random. Each [finding](findings/README.md) has a script.
- Settings other than the default and the *synced* row's. The *synced* rows under kill, pause and partition: syncing makes no
  difference there."""


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
    title = {one.name: about(one).title for one in entrants}
    yield from ("# Real systems side by side", "", INTRODUCTION, "", DIFFERS, "")
    yield f"Each cell leads to [one of its runs]({stories}), with the command that plays its plan again."
    yield from ("This command makes both pages:", "", f"    {command}", "")
    yield from _summary(title, found, runs)
    yield from _in_short(title, found)
    yield from ("## Acknowledged records that were lost", "")
    yield from _example(title, found)
    yield _row("", *(TROUBLES[trouble].words for trouble in troubles))
    yield _row(*["---"] * (len(troubles) + 1))
    for one in entrants:
        yield _row(about(one).title, *(_lost(of.get((one.name, trouble)), stories) for trouble in troubles))
    yield ""
    for trouble in troubles:
        yield f"- *{TROUBLES[trouble].words}*: {TROUBLES[trouble].about}"
    yield "- Words such as `stuck` in a cell: another violation ([anomalies](anomalies.md)), and in how many runs."
    yield from ("", "## What repairs a loss", "")
    yield from _how_sure(entrants, of)
    for one in entrants:
        yield from _repairs(one, entrants, of)
    yield from ("", "## Time without an answer", "")
    yield from (SILENCE, "")
    yield _row("", *(TROUBLES[trouble].words for trouble in troubles))
    yield _row(*["---"] * (len(troubles) + 1))
    for one in entrants:
        named = f"{about(one).title} ({_times(one)})"
        yield _row(named, *(_silent(of.get((one.name, trouble))) for trouble in troubles))
    yield from ("", "## Stale reads", "", STALE, "")
    for one in entrants:
        yield f"- {about(one).title}: {_stale([cell for cell in found if cell.system == one.name])}"
    yield from (
        "",
        "## How each was set, and what it promises",
        "",
        _row("", "set", "promised", "factor"),
        "|---|---|---|---|",
    )
    for one in entrants:
        told = about(one)
        yield _row(f"{told.title}<br>`{one.name}`", told.settings, _quoted(told.promised), _times(one))
    yield from ("", "## Read with care", "", READ_WITH_CARE)
    yield from ("", "## What was not tried", "", NOT_TRIED, "")
    yield from _reasons(runs, found)


def _row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |".replace("|  |", "| |")


def _summary(titles: dict[str, str], found: Sequence[Cell], runs: Sequence[Run]) -> Iterator[str]:
    done = [run for run in runs if run.kept.played]
    if done:
        days = sorted({run.kept.played[:10] for run in done})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        hours = sum(run.kept.seconds for run in done) / 3600
        acked = sum(cell.acked for cell in found)
        yield f"{len(done)} runs in {hours:.1f} hours, {acked:,} records acknowledged; {when}."
    for system, title in titles.items():
        missing = sum(cell.missing for cell in found if cell.system == system)
        if missing:
            yield f"{title}: {missing} planned runs have not been made yet, and are not counted."
    yield ""


def _in_short(titles: dict[str, str], found: Sequence[Cell]) -> Iterator[str]:
    """What the first table says, in sentences."""
    by_trouble: dict[str, list[Cell]] = {}
    for cell in found:
        if cell.runs:
            by_trouble.setdefault(cell.trouble, []).append(cell)
    calm = [trouble for trouble, of in by_trouble.items() if not any(cell.lossy for cell in of)]
    if calm:
        runs = sum(cell.runs for trouble in calm for cell in by_trouble[trouble])
        words = ", ".join(TROUBLES[trouble].words for trouble in calm)
        yield f"- No acknowledged record was lost in {runs} runs of these troubles: {words}."
    for trouble, of in by_trouble.items():
        if trouble not in calm:
            lost = "; ".join(f"{titles[cell.system]} in {cell.lossy} of {cell.runs} runs" for cell in of if cell.lossy)
            kept = "; ".join(f"{titles[cell.system]} (0 of {cell.runs})" for cell in of if not cell.lossy)
            yield f"- *{TROUBLES[trouble].words}*: records were lost by {lost}." + (
                f" No loss by {kept}." if kept else ""
            )
    for cell in found:
        if cell.others:
            kinds = ", ".join(f"`{kind}` in {runs} of {cell.runs} runs" for kind, runs in cell.others.items())
            yield f"- Other violations of {titles[cell.system]}, *{TROUBLES[cell.trouble].words}*: {kinds}."
    yield ""


def _example(titles: dict[str, str], found: Sequence[Cell]) -> Iterator[str]:
    """How to read a cell, by the first in which something was lost, in some of the runs if there is such a one."""
    lossy = sorted((cell for cell in found if cell.lossy), key=lambda cell: cell.lossy == cell.runs)
    for cell in lossy[:1]:
        yield f"For example {titles[cell.system]}, *{TROUBLES[cell.trouble].words}*: acknowledged records were lost in"
        yield f"**{cell.lossy} of {cell.runs}** runs; {cell.lost:,} of the {cell.acked:,} records acknowledged"
        yield f"in all {cell.runs} runs are gone; the 95 % interval (Wilson) of the share of runs is {_limits(cell)}."
        yield ""


def _how_sure(entrants: Sequence[Entrant], of: Mapping[tuple[str, str], Cell]) -> Iterator[str]:
    """What a repair without a loss proves, by the cell with the fewest runs."""
    with_a_setting = {one.name for one in entrants if about(one).repairs}
    repaired = [cell for (system, _), cell in of.items() if system in with_a_setting and cell.runs and not cell.lossy]
    if repaired:
        fewest = min(repaired, key=lambda cell: cell.runs)
        share = f"{100 * fewest.high:.0f} %"
        yield f"These are few runs. Where records were lost in 0 of {fewest.runs}, up to {share} of all such runs may still"
        yield "lose some (95 % interval, Wilson): the setting helped here, and nothing proves that it always does."
        yield ""


def _repairs(one: Entrant, entrants: Sequence[Entrant], of: Mapping[tuple[str, str], Cell]) -> Iterator[str]:
    """Which setting was tried against what a system lost, and what it lost with it; nothing of a system that is such a try."""
    told = about(one)
    if told.repairs in {other.name for other in entrants}:
        return
    lossy = [cell for (system, _), cell in of.items() if system == one.name and cell.lossy]
    tried = [other for other in entrants if about(other).repairs == one.name]
    if not lossy:
        yield f"- {told.title}: nothing was lost."
    elif not tried:
        yield f"- {told.title}: no setting was tried."
    for other in tried:
        rows = [(cell, of[other.name, cell.trouble]) for cell in lossy if (other.name, cell.trouble) in of]
        if rows:
            counts = ", ".join(
                f"{with_it.lossy} of {with_it.runs} runs of *{TROUBLES[cell.trouble].words}* (default: {cell.lossy} of {cell.runs})"
                for cell, with_it in rows
            )
            yield f"- {told.title}: with {about(other).settings.removeprefix(SAME)} records were lost in {counts}."


def _limits(cell: Cell) -> str:
    return f"{100 * cell.low:.0f} to {100 * cell.high:.0f} %"


def _lost(cell: Cell | None, stories: str) -> str:
    if cell is None:
        return "not tried"
    if cell.refused:
        return "cannot be run"
    if not cell.runs:
        return "unknown" if cell.unknown else "not tried"
    told = f"[{cell.lossy} of {cell.runs}]({stories}#{anchor(heading_of(cell))})"
    limits = _limits(cell)
    beside = "".join(f"<br>`{kind}` {runs}" for kind, runs in cell.others.items())
    if not cell.lossy:
        return f"{told}<br>0 of {cell.acked:,}<br>{limits}{beside}"
    how = (
        "permitted"
        if not cell.broken
        else "against its promise"
        if cell.broken == cell.lossy
        else f"{cell.broken} against its promise"
    )
    return f"**{told}**<br>{cell.lost:,} of {cell.acked:,}<br>{limits}<br>{how}{beside}"


def _silent(cell: Cell | None) -> str:
    if cell is None or not cell.runs:
        return "–"
    return f"{median(cell.silent_us) / 1e6:.1f} s, {cell.silent_us[-1] / 1e6:.1f} s"


def _stale(of_system: Sequence[Cell]) -> str:
    looked, stale = sum(cell.looked for cell in of_system), sum(cell.stale for cell in of_system)
    if not looked:
        return "not measured"
    where = [f"{TROUBLES[cell.trouble].words} {cell.stale} of {cell.looked}" for cell in of_system if cell.stale]
    return f"{stale} of {looked} runs" + (f" ({', '.join(where)})" if where else "")


def _quoted(promised: str) -> str:
    """Words and where they stand.

    >>> _quoted("Nothing is lost. (its README)")
    '“Nothing is lost.” (its README)'
    """
    parts = [part.rpartition(" (") for part in promised.split("<br>") if part]
    return "<br>".join(f"“{words}” ({source}" if space else f"“{source}”" for words, space, source in parts)


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
