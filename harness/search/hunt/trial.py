"""One plan, tried: what it reached, as little as a corpus needs to know, so that it travels cheaply between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers import Anomaly, History, Verdict, check
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, Recovered, TraceEvent, Truncate
from tidemark.checkers.marks import exercised
from tidemark.checkers.verdict.alike import without_numbers
from tidemark.checkers.verdict.verdict import NEAR_MISS, VIOLATION
from tidemark.harness.search.findings import Finding
from tidemark.harness.search.findings import known as finding_of
from tidemark.harness.search.hunt.finishing import HAZARDS, Near
from tidemark.harness.search.hunt.known import Known
from tidemark.harness.search.hunt.quarry import Quarry
from tidemark.harness.search.shrink.cause import Cause, causes_of
from tidemark.harness.simulator import SimulatedRun, simulate
from tidemark.nemesis import Plan
from tidemark.nodes.families import AnyVariant, parse_variant

NEAR, BROKEN = "near:", "broken:"
"""Before the names of near misses, and of violations that are not the quarry."""
_OFTEN = (2, 5)
"""A mark that was reached so often is one more mark."""


class Caught(NamedTuple):
    """What was hunted, as it showed: the anomaly's name, its sentence, and why it came about, in words without numbers."""

    name: str
    message: str
    cause: str


class Trial(NamedTuple):
    """What came of a plan.

    `reached`: mark → when it was first reached, in µs. `caught`: the most telling anomaly of those hunted, if there is one.
    `known`: how that is called, if it was known before; what a plan does beside what is known is then what it reached.
    `near`: the first near miss of each sort, and hazards. `vanished`: sorts of them that are not there without what is known.
    `struck`: the kinds of fault that struck. `events`: what it took, in events.
    """

    reached: dict[str, int]
    caught: Caught | None
    valid: str
    digest: str
    known: str = ""
    near: tuple[Near, ...] = ()
    vanished: tuple[str, ...] = ()
    struck: tuple[str, ...] = ()
    events: int = 0


def attempt(
    plan: Plan,
    variant: AnyVariant,
    quarry: Quarry,
    contract: str | None = None,
    known: Known | None = None,
    familiar: Mapping[str, bool] | None = None,
) -> Trial:
    """Simulate and judge a plan; what shows anything new is looked at a second time, without what is known.

    Args:
        plan: what is run.
        variant: that it is run under.
        quarry: what is hunted.
        contract: the promise it is judged by; the variant's own by default.
        known: what was known before.
        familiar: sorts of near misses that were looked at often enough → whether they come of what is known.
    """
    familiar = familiar or {}
    run = simulate(plan, variant, contract)
    verdict = check(run.history)
    found = quarry.in_(verdict)
    struck = tuple(sorted({str(one[3]) for one in run.history.nemesis if one[1] == "strike"}))
    reached, near = _marks(run, verdict, plan)
    caught = _caught(found, verdict, run.history)
    called, events = "", run.events
    vanished: set[str] = set()
    if known and (caught is not None or any(one.sort not in familiar for one in near)):
        contract = run.history.meta["contract"]
        if known.all_repaired:
            beside = simulate(plan, parse_variant(known.all_repaired), contract)
            events += beside.events
            shown = check(beside.history)
            before = near
            reached, near = _marks(beside, shown, plan)
            vanished = {one.sort for one in before} - {one.sort for one in near}
            still = quarry.in_(shown)
            if still is not None:
                caught = _the_same(_caught(still, shown, beside.history), quarry, verdict, run.history) or caught
            elif caught is not None and _shows(plan, known.preset, quarry, contract):
                called = _repair(plan, quarry, contract, known, _finding(variant, caught))
        if caught is not None and not called:
            called = known.by_cause(caught.name, caught.cause) or _without_repair(variant, caught)
    of_known = [one for one in near if familiar.get(one.sort)]
    for one in of_known:
        reached.pop(NEAR + one.sort, None)
        reached.pop(NEAR + one.name, None)
    near = tuple(one for one in near if one not in of_known)
    return Trial(reached, caught, verdict.valid, run.digest, called, near, tuple(sorted(vanished)), struck, events)


def _marks(run: SimulatedRun, verdict: Verdict, plan: Plan) -> tuple[dict[str, int], tuple[Near, ...]]:
    marks = exercised(run.history.trace, run.history.meta)
    near = {name: Near(name, name, marks[name].first_us, 0) for name in HAZARDS if name in marks}
    reached = {name: mark.first_us for name, mark in marks.items()}
    for name, mark in marks.items():
        reached |= {f"{name}×{times}": mark.first_us for times in _OFTEN if mark.times >= times}
    names = [*plan.cluster.assignment()]
    for anomaly in verdict.anomalies:
        if anomaly.verdict in (NEAR_MISS, VIOLATION):
            kind = NEAR if anomaly.verdict == NEAR_MISS else BROKEN
            reached.setdefault(kind + anomaly.name, anomaly.time)
        if anomaly.verdict == NEAR_MISS:
            sort = _sort(anomaly, run.history.trace)
            reached.setdefault(NEAR + sort, anomaly.time)
            partition = names.index(anomaly.partition) if anomaly.partition in names else 0
            near.setdefault(sort, Near(anomaly.name, sort, anomaly.time, partition))
    return reached, tuple(near.values())


def _sort(near: Anomaly, trace: Sequence[TraceEvent]) -> str:
    """A near miss, the event that made it one, and what the broker that it is about had last lost of its log."""
    evidence = near.evidence
    at = evidence.get("trace_index", 0)
    node, how = evidence.get("node", -1), ""
    for event in reversed(trace[:at]):
        if event[NODE] == node and event[PARTITION] == near.partition:
            if event[KIND] == "truncate":
                how = f", after a cut: {without_numbers(Truncate(event).reason)}"
                break
            if event[KIND] == "recovered" and Recovered(event).lost > 0:
                how = ", after a recovery"
                break
    return f"{near.name} ({trace[at][KIND] if at else ''}{how})"


def _shows(plan: Plan, preset: str, quarry: Quarry, contract: str) -> bool:
    """Whether a plan shows anything without the modifiers that somebody asked for; of a preset itself it does."""
    return not preset or quarry.in_(check(simulate(plan, parse_variant(preset), contract).history)) is not None


def _repair(plan: Plan, quarry: Quarry, contract: str, known: Known, likely: Finding | None) -> str:
    """How what is known is called that a plan shows, by the repair without which it does; that of the likely one is tried first."""
    for repair in sorted(known.repairs, key=lambda one: likely is None or one.title != likely.words):
        run = simulate(plan, parse_variant(repair.variant), contract)
        if quarry.in_(check(run.history)) is None:
            return repair.title
    return "several together of what is known"


def _finding(variant: AnyVariant, caught: Caught) -> Finding | None:
    """Which finding it is by its cause."""
    return finding_of(variant.name, Cause(caught.name, VIOLATION, None, tuple(caught.cause.split("; "))))


def _without_repair(variant: AnyVariant, caught: Caught) -> str:
    """How it is called, if it is a finding that nothing repairs."""
    found = _finding(variant, caught)
    return found.words if found is not None and found.repair is None else ""


def _the_same(caught: Caught | None, quarry: Quarry, verdict: Verdict, history: History) -> Caught | None:
    """Of all that a run shows what is of the same cause, too, where the known is repaired."""
    if caught is None:
        return None
    for anomaly in quarry.all_in(verdict):
        if anomaly.name == caught.name and (one := _caught(anomaly, verdict, history)) and one.cause == caught.cause:
            return one
    return None


def _caught(found: Anomaly | None, verdict: Verdict, history: History) -> Caught | None:
    if found is None:
        return None
    causes = causes_of(found, verdict, history)
    return Caught(found.name, found.message, "; ".join(causes[0].facts) if causes else "")
