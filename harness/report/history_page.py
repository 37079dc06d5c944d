"""The page of anybody's history: what was found, the stories of its records, and how operations went over time."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.history.history import History
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import CLIENTS, GRAVITY, VIOLATION, Anomaly, Verdict
from tidemark.harness.report import words
from tidemark.harness.report.environment import written
from tidemark.harness.report.glossary import GLOSSARY, OUTCOME_GLOSSARY, PROMISES
from tidemark.harness.report.latency import QUANTILE_WORDS
from tidemark.harness.report.operations import Operations
from tidemark.harness.report.pages import WrittenPage, gravest
from tidemark.harness.report.plots import Plots, plots_of
from tidemark.harness.report.record_fates import Fate, counted, fates_of
from tidemark.harness.report.record_story import RecordStory, record_stories
from tidemark.harness.report.recovery import SHARE_OF_BEFORE
from tidemark.harness.report.spacetime import draw_story
from tidemark.harness.report.story import Story, choose_anomaly, tell
from tidemark.harness.report.style import looks, save
from tidemark.harness.report.timeline import timeline_of
from tidemark.harness.report.timeline_page import write_timeline
from tidemark.harness.report.what_ran import what_ran_of
from tidemark.harness.report.whole_run import whole_run

KEYED: Final = ("key-value", "append-log")
"""The models whose operations have a key as the first of their value."""

_OF_CLIENTS = ("acked", "violation", "informational", "permitted")


@dataclass(frozen=True, slots=True)
class _View:
    """The history as the template shows it."""

    name: str
    title: str
    valid: str
    finding: str
    doubts: list[str]
    verdict: Verdict | None
    result: Result | None
    gravest: list[Anomaly]
    counted: str
    story: Story | None
    picture: Markup
    stories: list[RecordStory]
    fates: list[Fate]
    plots: Plots
    timeline_file: str
    numbers: list[tuple[str, str]]
    command: str
    ran: tuple[str, str]


def write_history_page(
    history: History,
    judged: Verdict | Result,
    out: Path,
    source: str,
    *,
    options: str = "",
    window: tuple[float | None, float | None] = (None, None),
    for_paper: bool = False,
) -> WrittenPage:
    """Write the page, its figures and the timeline.

    Args:
        history: what happened.
        judged: what the checkers say of it, of a log or (``--model``) of another object.
        out: the page; the rest goes beside it, with names that begin with its own.
        source: where the history was read, as somebody would type it.
        options: of the command that judges it again, with a space before.
        window: what the timeline shows, from and to, seconds.
        for_paper: save the figures as PNG and PDF, too.

    Raises:
        NothingThereError: there is no operation in the window.
        OSError: something cannot be written.
    """
    verdict = judged if isinstance(judged, Verdict) else None
    title = Path(source).name if source != "-" else "standard input"
    ordered = gravest(verdict) if verdict is not None else []
    operations = Operations.of(history, keyed=isinstance(judged, Result) and judged.checker in KEYED)
    timeline = timeline_of(history, ordered, window, operations)
    out.parent.mkdir(parents=True, exist_ok=True)
    timeline_file = f"{out.stem}-timeline.html" if timeline.total else ""
    if timeline_file:
        command = f"tidemark report {shlex.quote(source)}{options}"
        write_timeline(timeline, out.with_name(timeline_file), title, page=out.name, command=command)
    story, picture = _traced_story(history, verdict, out, for_paper=for_paper)
    plots = plots_of(history, operations, out.parent, out.stem, for_paper=for_paper)
    view = _View(
        name=out.stem,
        title=title,
        valid=judged.valid,
        finding=_finding(judged),
        doubts=_doubts(history),
        verdict=verdict,
        result=judged if isinstance(judged, Result) else None,
        gravest=ordered,
        counted=_counted(ordered),
        story=story,
        picture=picture,
        stories=record_stories(history, verdict) if verdict is not None and story is None else [],
        fates=counted(fates_of(history)) if verdict is not None else [],
        plots=plots,
        timeline_file=timeline_file,
        numbers=_numbers(history, verdict, plots),
        command=f"tidemark check {shlex.quote(source)}{options}",
        ran=what_ran_of(history.meta),
    )
    known = GLOSSARY
    if verdict is None or verdict.judged_from == CLIENTS:
        known = {word: GLOSSARY[word] for word in _OF_CLIENTS if verdict is not None}
    written(
        out,
        "history.html.j2",
        view=view,
        whole=whole_run(history, operations, ordered),
        quantile_words=QUANTILE_WORDS,
        share_of_before=SHARE_OF_BEFORE,
        glossary=OUTCOME_GLOSSARY | known,
        promises={} if verdict is None else PROMISES,
    )
    return WrittenPage(out, out.with_name(timeline_file) if timeline_file else None, plots)


def _traced_story(
    history: History, verdict: Verdict | None, out: Path, *, for_paper: bool
) -> tuple[Story | None, Markup]:
    """Where the replicas were traced: the story of the clearest anomaly, and its picture."""
    anomaly = choose_anomaly(verdict) if verdict is not None and history.trace else None
    if anomaly is None:
        return None, Markup()
    story = tell(history, anomaly)
    if anomaly.verdict != VIOLATION and story.offset is None:
        return story, Markup()
    with looks():
        label = f"Space-time picture of {anomaly.name} in {story.partition}"
        svg = save(draw_story(story), out.parent, f"{out.stem}-spacetime", label, for_paper=for_paper)
    return story, Markup(svg)  # noqa: S704  our own SVG


def _finding(judged: Verdict | Result) -> str:
    """The verdict in a sentence."""
    if isinstance(judged, Result):
        because = f" Unknown because {judged.unknown_because}." if judged.unknown_because else ""
        return f"As a history of {judged.checker} it is {judged.valid}.{because}"
    return f"{of_acknowledged(judged.stats)} {_kept(judged)}"


def _kept(judged: Verdict) -> str:
    alone = ", judged by what the clients saw alone" if judged.judged_from == CLIENTS else ""
    if judged.valid == "unknown":
        return f"Nobody can tell whether the promise “{judged.contract}” was kept: {judged.unknown_because}."
    if judged.valid == "invalid":
        violations = [anomaly for anomaly in judged.anomalies if anomaly.verdict == VIOLATION]
        return f"The promise “{judged.contract}” was broken{alone}: {_counted(violations)}"
    rest = "; what was found is permitted by it" if judged.anomalies else "; the checkers found nothing"
    return f"The promise “{judged.contract}” was kept{alone}{rest}."


def _counted(anomalies: Sequence[Anomaly]) -> str:
    """How many of each kind, the gravest first."""
    counts: Counter[tuple[int, str, str]] = Counter()
    for anomaly in anomalies:
        counts[GRAVITY.index(anomaly.verdict), anomaly.name, anomaly.verdict] += anomaly.times
    told = [f"{count} {name} ({verdict})" for (_, name, verdict), count in sorted(counts.items())]
    return f"{words.listed(told)}." if told else ""


def _doubts(history: History) -> list[str]:
    """Why the history is not whole, if it is not."""
    doubts = []
    if history.gaps:
        doubts.append(f"The history is not whole, and nothing is reported of it: {history.gaps}.")
    elif history.cut_off:
        doubts.append(f"This is only the beginning of a history: {history.cut_off}.")
    return doubts


def _numbers(history: History, verdict: Verdict | None, plots: Plots) -> list[tuple[str, str]]:
    """Name and value, as words; of a history without a trace nothing about replicas."""
    numbers: list[tuple[str, str]] = [("operations", f"{sum(kind.begun for kind in plots.kinds):,}")]
    if history.nemesis or plots.episodes:
        numbers.append(("times of faults", f"{len(plots.episodes):,}"))
    stats: dict[str, Any] = verdict.stats if verdict is not None else {}
    wanted = stats if history.trace else ("acked", "sends", "polls", "acked_lost_violation", "acked_lost_permitted",
                                          "acked_deleted", "acked_unknown", "first_violation_us", "availability")  # fmt: skip
    for name in wanted:
        value = stats.get(name)
        said = "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
        if name.endswith("_us"):
            said = words.seconds(value, 3)
        elif isinstance(value, dict):
            said = ", ".join(f"{clause} {count:,}" for clause, count in value.items()) or "–"
        elif name == "availability":
            said = words.percent(value)
        if stats:
            numbers.append((_NAMES.get(name, name.replace("_", " ")), said))
    return numbers


_NAMES: Final = {
    "acked": "acked records",
    "acked_lost_violation": "acked records lost: violation",
    "acked_lost_permitted": "acked records lost: permitted",
    "acked_lost_by_clause": "acked records lost: permitted by",
    "acked_deleted": "acked records deleted on purpose",
    "acked_unknown": "acked records of which nobody can tell",
    "first_violation_us": "first violation",
    "availability": "sends acknowledged, of those that completed (until the faults ended)",
    "recovery_us": "recovery",
}
