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

SILENCE = """\
The longest time without any acknowledgement while trouble lasted: the median of the runs, and the worst. It includes the time
for which the plan keeps servers down: up to 2.5 s, multiplied by the *times* of the table below. How many writes failed is
not compared: some clients wait for an answer, and others try again at once."""

READ_WITH_CARE = """\
- A power loss takes from NATS, etcd and Fluss everything that they had not synced, the worst that a disk may do. Of Kafka and
  of our own nodes a share of it survives, drawn for each log. So a 0 of Kafka or of our own nodes says less than one of the
  others, and how large a loss is cannot be compared.
- A disk here keeps what was synced, always. A real one may not.
- Plans are short. Each system plays them slowed down by a factor (*times* in the table above). Kafka's time-outs are shorter
  than its defaults, and multiplied by the same factor. Seconds of silence tell more about time-outs than about systems.
- What NATS promises of the crash of one machine is told in two ways, both quoted. We judge it by the first, which is
  stricter, though the reference of 2.14 has dropped it ([adding a system](systems.md#nats-jetstream)). No plan here does what
  the second warns of: power loss of one *and* cut links. [A script does](findings/nats-one-power-loss.md), and loses records.
- The servers share one machine, and are slower than on machines of their own.
- Reads that are out of date are looked for where it can be told: in the logs of Kafka's and our replicas, and in etcd's set.
  NATS shows no high watermark, so nobody looked there, and neither on Fluss.
- A kill takes nothing from a disk, so it excuses no loss here, though the words of Fluss, as those of Kafka, end where no
  replica is alive, as when *kill* kills all three. Why Fluss loses then is [a finding](findings/fluss-high-watermark.md)."""

NOT_TRIED = """\
- Clocks that jump. NATS and etcd are static Go programs, which load no library that could move their clock; nobody
  could see whether it comes through to Fluss.
- Lost and full disks, slow links, and several kinds of trouble at once. `tidemark run` and `tidemark soak` try those.
- Flipped bits in, and tails cut off, a server's files: tried [by themselves](systems.md#damaged-files).
- More than three servers, more than one log, upgrades, clusters whose members change.
- The power of Kafka's KRaft controller, and of Fluss' coordinator and its ZooKeeper: each is one process here, and goes on.
- Redpanda, Pulsar and RabbitMQ: not yet.
- Losses that want a certain order of events, such as Kafka's [missed reign](findings/missed-reign.md): the plans here are
  random. Each [finding](findings/README.md) has a script.
- Any setting but the default and the one beside it; the *synced* rows under kill, pause and partition."""


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
    yield from (f"Each cell leads to [one of its runs]({stories}), with the command that plays its plan again.", "")
    yield from _summary(found, runs)
    yield from _in_short({one.name: about(one).title for one in entrants}, found)
    yield from ("## Acknowledged records that were lost", "")
    yield _row("", *(TROUBLES[trouble].words for trouble in troubles))
    yield _row(*["---"] * (len(troubles) + 1))
    for one in entrants:
        yield _row(about(one).title, *(_lost(of.get((one.name, trouble)), stories) for trouble in troubles))
    yield ""
    for trouble in troubles:
        yield f"- *{TROUBLES[trouble].words}*: {TROUBLES[trouble].about}"
    yield "- Words such as `stuck` in a cell: what else went wrong ([anomalies](anomalies.md)), and in how many runs."
    yield "- *synced*: such a row was tried with power losses only, since syncing makes no difference to the other troubles."
    yield from ("", "## Time without an answer", "")
    yield from (SILENCE, "")
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
        yield _row(f"{told.title}<br>`{one.name}`", told.settings, _quoted(told.promised), _times(one))
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
        hours = sum(run.kept.seconds for run in done) / 3600
        acked = sum(cell.acked for cell in found)
        yield f"{len(done)} runs in {hours:.1f} hours, {acked:,} records acknowledged; {when}."
    missing = sum(cell.missing for cell in found)
    if missing:
        yield f"{missing} runs are still to come: a cell counts those that were made."
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
        yield f"- Nothing acknowledged was lost in {runs} runs of these troubles: {', '.join(map(_heading, calm))}."
    for trouble, of in by_trouble.items():
        if trouble not in calm:
            lost = "; ".join(f"{titles[cell.system]} in {cell.lossy} of {cell.runs} runs" for cell in of if cell.lossy)
            kept = "; ".join(f"{titles[cell.system]} (0 of {cell.runs})" for cell in of if not cell.lossy)
            yield f"- *{_heading(trouble)}*: records were lost by {lost}." + (f" No loss by {kept}." if kept else "")
    for cell in found:
        if cell.others:
            kinds = ", ".join(f"`{kind}` in {runs}" for kind, runs in cell.others.items())
            yield f"- {titles[cell.system]}, *{_heading(cell.trouble)}*: {kinds} of {cell.runs} runs, which no promise permits."
    yield ""


def _heading(trouble: str) -> str:
    """Of a column, where it stands alone."""
    words = TROUBLES[trouble].words
    return f"power loss {words}" if words.startswith("of ") else words


def _lost(cell: Cell | None, stories: str) -> str:
    if cell is None:
        return "not tried"
    if cell.refused:
        return "cannot be run"
    if not cell.runs:
        return "unknown" if cell.unknown else "not tried"
    told = f"[{cell.lossy} of {cell.runs}]({stories}#{anchor(heading_of(cell))})"
    limits = f"{100 * cell.low:.0f} to {100 * cell.high:.0f} %"
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
        return "nobody looked"
    where = [f"{_heading(cell.trouble)} {cell.stale} of {cell.looked}" for cell in of_system if cell.stale]
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
