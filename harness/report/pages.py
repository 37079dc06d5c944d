"""The HTML pages: one self-contained file each, its figures also saved beside it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tidemark.checkers.history.history import History
from tidemark.checkers.known_anomalies import meaning
from tidemark.checkers.marks import MARKS
from tidemark.checkers.verdict.verdict import GRAVITY, VIOLATION, Anomaly, Verdict
from tidemark.harness.report import figures, words
from tidemark.harness.report.answer import (
    answers,
    from_outside,
    headline,
    nearly_agreeing,
    no_worse,
    not_reached,
    oddities,
    outside_column,
    promised,
    set_up,
)
from tidemark.harness.report.beside_the_rule import Besides, besides
from tidemark.harness.report.chance import chance
from tidemark.harness.report.comparison import ANY, LOST, Comparison, Example, PartLine, RunLine
from tidemark.harness.report.environment import written
from tidemark.harness.report.epoch_requests import why_none
from tidemark.harness.report.family_sentences import elsewise_in, elsewise_under
from tidemark.harness.report.faults import FaultLine, fault_lines
from tidemark.harness.report.glossary import COMPARISON_GLOSSARY, GLOSSARY, OUTCOME_GLOSSARY, PROMISES
from tidemark.harness.report.latency import QUANTILE_WORDS
from tidemark.harness.report.needed_faults_text import DecidingFaults
from tidemark.harness.report.operations import Operations
from tidemark.harness.report.plots import Plots, plots_of
from tidemark.harness.report.recovery import SHARE_OF_BEFORE
from tidemark.harness.report.spacetime import draw_story
from tidemark.harness.report.story import Story, choose_anomaly, tell
from tidemark.harness.report.style import looks, save
from tidemark.harness.report.timeline import timeline_of
from tidemark.harness.report.timeline_page import write_timeline
from tidemark.harness.report.what_ran import what_ran_of
from tidemark.harness.report.when_stuck import seen_by_clients
from tidemark.harness.report.whole_run import whole_run
from tidemark.harness.report.why_section import Why
from tidemark.harness.runs.own_rules import variant_options
from tidemark.harness.runs.shown_as import shown_as


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page about one history; `timeline` is None of a history without operations."""

    page: Path
    timeline: Path | None
    plots: Plots


@dataclass(frozen=True, slots=True)
class RunView:
    """One run as the template shows it."""

    name: str  # for files and anchors
    title: str
    variant: str
    anomaly: Anomaly | None
    story: Story | None
    picture: Markup
    faults: list[FaultLine]
    faults_end: float  # % of the run
    end: str
    command: str
    replayed: bool  # does the command give the same run again?
    on_logs: bool  # can the simulator's clients do what these did?
    plan_file: str
    verdict: Verdict
    ran: tuple[str, str] = ("", "")  # what its brokers were
    decided: str = ""  # which faults it takes
    elsewise: tuple[str, ...] = ()  # what of the plan was left out, or something else
    why: Why | None = None
    seen: Sequence[str] = ()  # what clients saw of partitions that never came to rest


@dataclass(frozen=True, slots=True)
class BriefView:
    """The story of one anomaly, without a picture."""

    anchor: str
    title: str
    variant: str
    story: Story
    command: str
    decided: str = ""
    seen: Sequence[str] = ()  # what clients saw of a partition that never came to rest


def render(
    comparison: Comparison,
    examples: Sequence[Example],
    out_dir: Path,
    why: Callable[[Example], Why | None] | None = None,
    deciding: Callable[[Example, Anomaly], DecidingFaults | None] | None = None,
    lines: Sequence[RunLine] = (),
    *,
    more_lines: bool = False,
    parts: Sequence[PartLine] = (),
) -> Path:
    """Write `report.html`, its figures and the examples' plans to `out_dir`.

    Args:
        comparison: what is told.
        examples: the runs to explain.
        out_dir: made if it is not there.
        why: says why an example failed, if somebody can.
        deciding: says which faults one of its anomalies takes, if somebody can.
        lines: runs to list one by one.
        more_lines: there are more runs than these.
        parts: those of the campaign, where there are several.

    Returns:
        The path of the page, which needs none of the other files.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    with looks():
        pictures = {
            "rates": save(
                figures.rates(comparison),
                out_dir,
                "rates",
                "Share of runs with each violation, by variant",
                for_paper=True,
            ),
            "first": save(
                figures.first_violation(comparison),
                out_dir,
                "first-violation",
                "Share of runs violated over time, by variant",
                for_paper=True,
            ),
            "availability": save(
                figures.availability(comparison),
                out_dir,
                "availability",
                "Share of sends acknowledged, by variant",
                for_paper=True,
            ),
        }
    pictured = {example.variant: example for example in reversed(examples)}
    runs = [
        _run_view(
            example.plan,
            example.history,
            example.verdict,
            out_dir,
            f"{example.variant}-plan-{example.plan_index}",
            why=why(example) if why is not None else None,
        )
        for example in examples
        if example is pictured[example.variant]
    ]
    told = [view for example in examples if (view := _brief(example, deciding, runs)) is not None]
    explained = {brief.anchor: _told_at(brief, runs) for brief in told}
    (out_dir / "comparison.json").write_text(json.dumps(comparison.to_json(), indent=1) + "\n", encoding="utf-8")
    return written(
        out_dir / "report.html",
        "comparison.html.j2",
        comparison=comparison,
        pictures={name: Markup(svg) for name, svg in pictures.items()},  # noqa: S704  our own SVG
        headline=headline(comparison),
        no_worse=no_worse(comparison),
        not_reached=not_reached(comparison),
        chance=chance(comparison),
        promised=promised(comparison),
        set_up=set_up(comparison),
        outside=outside_column(comparison),
        besides=_besides(comparison),
        answers=answers(comparison),
        from_outside=from_outside(comparison),
        oddities=oddities(comparison),
        nearly_agreeing=nearly_agreeing(comparison),
        runs=runs,
        elsewise=()
        if comparison.world == "imported"
        else elsewise_under([variant.variant for variant in comparison.variants]),
        told=told,
        briefs=[brief for brief in told if explained[brief.anchor] == brief.anchor],
        lines=lines,
        more_lines=more_lines,
        parts=parts,
        faults=comparison.faults,
        listed_anomalies=sorted({name for line in lines for name, _, _ in line.found}),
        explained=explained,
        anchor=anchor,
        version=version("tidemark-chaos"),
        glossary=GLOSSARY | COMPARISON_GLOSSARY | _not_told(comparison, lines),
        promises=PROMISES,
        ANY=ANY,
        LOST=LOST,
        own_promises=_own_promises(comparison),
        listed_runs=_listed_runs(comparison),
        MARKS=MARKS,
        without_requests={variant.variant: why_none(variant.variant) for variant in comparison.variants},
        tested=_tested(comparison),
        compared_with_baseline=[v for v in comparison.variants if v.variant != comparison.baseline],
    )


def render_run(plan: Mapping[str, Any], history: History, verdict: Verdict, out: Path, why: Why | None = None) -> Path:
    """Write a page about a single run; see `write_run_page`."""
    return write_run_page(plan, history, verdict, out, why=why).page


def write_run_page(
    plan: Mapping[str, Any],
    history: History,
    verdict: Verdict,
    out: Path,
    source: str = "RUNFOLDER",
    window: tuple[float | None, float | None] = (None, None),
    why: Why | None = None,
    *,
    for_paper: bool = False,
) -> WrittenPage:
    """Write a page about a single run, and its timeline beside it.

    Args:
        plan: The plan as JSON values.
        history: What happened.
        verdict: What the checkers say.
        out: The page's path, or a folder, which gets `report.html`. The picture is saved beside it, and so is the plan, as
            `plan.json`, unless it is there already.
        source: The run's folder, as somebody would type it.
        window: What the timeline shows, from and to, seconds.
        why: Why it failed, as far as somebody found out.
        for_paper: Save the figures as PNG and PDF, too.

    Raises:
        NothingThereError: There is no operation in the window.
    """
    if out.suffix != ".html":
        out = out / "report.html"
    operations = Operations.of(history)
    timeline = timeline_of(history, gravest(verdict), window, operations)
    out.parent.mkdir(parents=True, exist_ok=True)
    view = _run_view(plan, history, verdict, out.parent, out.stem, "plan.json", why=why, for_paper=for_paper)
    beside = out.with_name(f"{out.stem}-timeline.html") if timeline.total else None
    if beside is not None:
        write_timeline(timeline, beside, view.title, page=out.name, command=f"tidemark report {shlex.quote(source)}")
    plots = plots_of(history, operations, out.parent, out.stem, for_paper=for_paper)
    written(
        out,
        "run.html.j2",
        run=view,
        whole=whole_run(history, operations, gravest(verdict)),
        plots=plots,
        timeline_file=beside.name if beside else "",
        quantile_words=QUANTILE_WORDS,
        share_of_before=SHARE_OF_BEFORE,
        glossary=GLOSSARY | OUTCOME_GLOSSARY,
        promises=PROMISES,
    )
    return WrittenPage(out, beside, plots)


def _besides(comparison: Comparison) -> list[Besides]:
    """In what its presets differ besides their rules; nothing where something else than our own protocols ran."""
    ours = comparison.system == "tidemark" and comparison.world != "imported"
    return besides(variant.variant for variant in comparison.variants) if ours else []


def _own_promises(comparison: Comparison) -> list[str]:
    """The promises that runs were judged by, of those that have a sentence."""
    return [name for name in comparison.own_promises if name in PROMISES]


def _tested(comparison: Comparison) -> list[str]:
    """The kinds of violations in which some variant differs from the baseline on some plan."""
    differs = {
        row.name
        for variant in comparison.variants
        for row in variant.anomalies
        if row.paired is not None and row.paired.only_here + row.paired.only_baseline
    }
    return [name for name in comparison.anomaly_names if name in differs and name != ANY]


def _listed_runs(comparison: Comparison) -> set[str]:
    """The rows that there are of runs by what they showed."""
    rows = [(variant.variant, row) for variant in comparison.variants for row in variant.anomalies]
    return {anchor("runs", variant, row.name) for variant, row in rows if row.violation.hits and row.name != ANY}


def _not_told(comparison: Comparison, lines: Sequence[RunLine]) -> dict[str, str]:
    """What the run by run list names and no other table explains."""
    listed = {name for line in lines for name, _, _ in line.found}
    near = comparison.variants[0].near_misses if comparison.variants else {}
    return {name: meaning(name) for name in sorted(listed - {*comparison.anomaly_names, *near}) if meaning(name)}


def anchor(*names: str) -> str:
    """An id for what bears these names."""
    return "-".join(re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in names)


def _brief(
    example: Example, deciding: Callable[[Example, Anomaly], DecidingFaults | None] | None, runs: Sequence[RunView]
) -> BriefView | None:
    """The story of the anomaly that the example is for: the one of that name that explains the run best. Where one of `runs` tells
    the same at length, nobody asks again which faults decided.
    """
    of_name = [one for one in example.verdict.anomalies if one.name == example.name]
    told = choose_anomaly(replace(example.verdict, anomalies=tuple(of_name)))
    if told is None or example.name is None:
        return None
    where = anchor("example", example.variant, example.name)
    title = f"{example.name} under {example.variant}: plan {example.plan_index}"
    again = any(run.anomaly is told for run in runs)
    found = deciding(example, told) if deciding is not None and not again else None
    story = tell(example.history, told, found.enough if found is not None else ())
    decided = found.in_words(example.history) if found is not None else ""
    seen = seen_by_clients(example.history, [told])
    return BriefView(where, title, example.variant, story, example.command, decided, seen)


def _told_at(brief: BriefView, runs: Sequence[RunView]) -> str:
    """Where an example is told: at length, if it is one that has a picture."""
    return next((f"run-{run.name}" for run in runs if run.anomaly is brief.story.anomaly), brief.anchor)


def gravest(verdict: Verdict) -> list[Anomaly]:
    """All anomalies, the one that explains the history best first, then by gravity and time."""
    first = choose_anomaly(verdict)
    ordered = sorted(verdict.anomalies, key=lambda anomaly: (GRAVITY.index(anomaly.verdict), anomaly.time))
    return sorted(ordered, key=lambda anomaly: anomaly is not first)


def _run_view(
    plan: Mapping[str, Any],
    history: History,
    verdict: Verdict,
    folder: Path,
    name: str,
    plan_file: str | None = None,
    why: Why | None = None,
    *,
    for_paper: bool = False,
) -> RunView:
    """Tell and draw the run's clearest anomaly; save the picture and the plan."""
    name = re.sub(r"[^A-Za-z0-9.+_-]", "_", name)
    variant = str(history.meta.get("variant", "?"))
    anomaly = choose_anomaly(verdict)
    deciding = why.deciding if why is not None else None
    marked = deciding.enough if deciding is not None else ()
    story = tell(history, anomaly, marked) if anomaly is not None else None
    picture = ""
    if story is not None and (story.anomaly.verdict == VIOLATION or story.offset is not None):
        label = f"Space-time picture of {story.anomaly.name} in {story.partition} under {shown_as(history.meta)}"
        with looks():
            picture = save(draw_story(story), folder, f"{name}-spacetime", label, for_paper=for_paper)
    if plan_file is None or not (folder / plan_file).exists():
        plan_file = plan_file or f"{name}-plan.json"
        (folder / plan_file).write_text(json.dumps(plan, indent=1) + "\n", encoding="utf-8")
    end = max(int(history.meta.get("end_us", 0)), 1)
    alone = history.meta.get("contract_alone", False)
    contract = f" --contract {shlex.quote(verdict.contract)}" if alone else ""
    world = str(history.meta.get("world", "sim"))
    typed = history.meta.get("typed")
    elsewhere = _elsewhere(world, str(typed or history.meta.get("system", "tidemark")), history.meta.get("clients"))
    under = "" if history.meta.get("untold") else f" {variant_options(variant)}"
    return RunView(
        name=name,
        title=f"{shown_as(history.meta)}, plan {plan.get('index', '?')}",
        variant=variant,
        anomaly=anomaly,
        story=story,
        picture=Markup(picture),  # noqa: S704  our own SVG
        faults=fault_lines(plan, history, marked),
        decided=deciding.in_words(history) if deciding is not None else "",
        elsewise=elsewise_in(history.meta),
        faults_end=round(min(100 * int(plan.get("faults_end_us", end)) / end, 100), 2),
        end=words.seconds(end),
        command=f"tidemark run --plan {shlex.quote(plan_file)}{under}{contract}{elsewhere}",
        ran=what_ran_of(history.meta),
        replayed=world == "sim",
        on_logs=not plan.get("workload", {}).keys() & {"transactional", "share_members", "object"},
        plan_file=plan_file,
        verdict=verdict,
        why=why if why is not None and why.tells else None,
        seen=seen_by_clients(history, verdict.anomalies),
    )


def _elsewhere(world: str, system: str, clients: str | None) -> str:
    """The options that make a plan run where this one did; the plan's times are those that it had there."""
    if world == "sim":
        return ""
    library = "" if clients in (None, "confluent") else f" --clients {shlex.quote(clients)}"
    if system == "tidemark":
        return f" --world {shlex.quote(world)}{library}"
    return f" --system {shlex.quote(system)} --time-scale 1{library}"
