"""The plan of a failing run under what might repair it, until something does: that run, and where it parts from the failing one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Append
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, Verdict
from tidemark.harness.report.comparison import Example
from tidemark.harness.report.decisive_condition import decisive_conditions
from tidemark.harness.report.lanes import lanes_of
from tidemark.harness.report.moments import Moment, most_telling
from tidemark.harness.report.story import all_moments, choose_anomaly, same_story, tell
from tidemark.harness.report.why_section import NotEnough, Parting, Repair, Why
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.findings import recognised
from tidemark.harness.search.shrink.cause import facts_with_numbers
from tidemark.harness.simulator.execute import execute
from tidemark.harness.why.candidates import Candidate, candidates, fits, pairs
from tidemark.harness.why.first_difference import first_difference
from tidemark.harness.why.needed_faults import deciding_faults
from tidemark.harness.why.parting import parting_of
from tidemark.harness.why.simulated import is_simulated
from tidemark.harness.why.two_runs import rows_of
from tidemark.nemesis import Plan
from tidemark.nodes.core.describe import Difference, differences
from tidemark.nodes.families import parse_variant

BEFORE_US: Final = 300_000
AFTER_US: Final = 700_000
NOTHING_TO_DO: Final = "Nothing to do"
"""So begins what `tidemark variants` says of a rule that has no part in a variant."""


@dataclass(frozen=True, slots=True)
class _Valid:
    candidate: Candidate
    run: JudgedRun
    parting: Parting | None
    never_written: bool


def why_of(
    plan: Plan, variant: str, contract: str | None, history: History, verdict: Verdict, *, again: bool = True
) -> Why | None:
    """Why a run failed; None if it did not.

    Args:
        plan: what was run.
        variant: under which variant.
        contract: the promise that was asked for, if one was.
        history: what came of it.
        verdict: what the checkers say.
        again: the run is the simulator's, so that others of its plan can stand beside it.
    """
    anomaly = choose_anomaly(verdict)
    if anomaly is None or anomaly.verdict != VIOLATION:
        return None
    conditions = tuple(decisive_conditions(history, anomaly))
    facts = facts_with_numbers(anomaly, verdict, history) if history.trace else ()
    known = tuple(one.words for one in recognised(variant, verdict, history))
    if not again:
        return Why(conditions, facts, known=known)
    deciding = deciding_faults(plan, variant, contract, history, verdict, anomaly) if history.trace else None
    marked = deciding.enough if deciding is not None else ()
    repair, not_enough = _repair(plan, (variant, contract), (history, anomaly), marked)
    return Why(conditions, facts, repair, not_enough, deciding, known)


def why_of_stored(plan: Plan, history: History, verdict: Verdict) -> Why | None:
    """What `why_of` says of a run by what its history tells of itself."""
    meta = history.meta
    variant = str(meta.get("variant", ""))
    contract = verdict.contract if meta.get("contract_alone", False) else None
    return why_of(plan, variant, contract, history, verdict, again=is_simulated(history))


def why_of_example(example: Example) -> Why | None:
    """The same of an example of a comparison."""
    return why_of_stored(Plan.from_json(example.plan), example.history, example.verdict)


def _repair(
    plan: Plan, asked: tuple[str, str | None], failing: tuple[History, Anomaly], marked: Collection[int]
) -> tuple[Repair | None, tuple[NotEnough, ...]]:
    variant, contract = asked
    history, anomaly = failing
    partition, offset, value = same_story(history, anomaly)
    moments = all_moments(history, partition, offset, value)
    found: list[_Valid] = []
    failed: list[tuple[Candidate, str]] = []
    tried = [0, 0, 0]

    def attempt(candidate: Candidate) -> str:
        run = execute(plan, candidate.variant, contract)
        if run.verdict.valid == "valid":
            theirs = all_moments(run.history, *_there(run.history, partition, offset, value))
            parting = parting_of((history, moments), (run.history, theirs), partition)
            never = value is not None and _place_of(run.history, partition, value) is None
            found.append(_Valid(candidate, run, parting, never))
        return run.verdict.valid

    first, last = _by_rank(candidates(variant, anomaly.name))
    for candidate in first:
        tried[_is_another_version(candidate.variant, variant)] += 1
        if (valid := attempt(candidate)) != "valid":
            failed.append((candidate, valid))
    if all(_is_another_version(one.candidate.variant, variant) for one in found):
        for candidate in pairs(variant, [one for one, _ in failed]):
            tried[2] += 1
            attempt(candidate)
    for candidate in () if found else last:  # a later preset only where no repair will do
        tried[1] += 1
        if (valid := attempt(candidate)) != "valid":
            failed.append((candidate, valid))
    not_enough = tuple(NotEnough(one.variant, one.title, valid) for one, valid in failed)
    if not found:
        return None, not_enough
    best = min(found, key=lambda one: _order(one, variant, anomaly))
    best = replace(best, candidate=_titled(best.candidate, variant, [one for one, _ in failed]))
    names = tuple(one.candidate.variant for one in found)
    record = partition, offset, value
    return _told(best, asked, failing, record, (names, (tried[0], tried[1]), tried[2]), marked), not_enough


def _by_rank(found: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Those to be tried in any case, and later presets."""
    return [one for one in found if one.rank < 2], [one for one in found if one.rank == 2]


def _titled(candidate: Candidate, failing: str, failed: Sequence[Candidate]) -> Candidate:
    """A whole version is not named for a bug whose repair alone is not enough."""
    entry = candidate.entry
    if entry is None or not _is_another_version(candidate.variant, failing):
        return candidate
    if not any(one.entry is entry for one in failed):
        return candidate
    title = f"it repairs {entry.key}, which alone is not enough, and more"
    return replace(candidate, title=title, wrong="")


def _is_another_version(candidate: str, variant: str) -> bool:
    """Whether a variant is not the failing one with one thing repaired, but another one, with whatever else it has."""
    return candidate.split("+", maxsplit=1)[0] != variant.split("+", maxsplit=1)[0]


def _order(valid: _Valid, failing: str, anomaly: Anomaly) -> tuple[bool, bool, bool, int, bool, int]:
    """One thing repaired before a whole version, the same record written, a bug that is known to show like this, and the run that
    stays the same for longest: it parts where it matters.
    """
    parted = valid.parting.time if valid.parting is not None else anomaly.time + 1
    whole = _is_another_version(valid.candidate.variant, failing)
    return (
        parted > anomaly.time,
        whole,
        valid.never_written,
        valid.candidate.rank,
        not fits(valid.candidate.entry, anomaly.name),
        -parted,
    )


def _there(history: History, partition: str, offset: int | None, value: object) -> tuple[str, int | None, object]:
    """Where the record lies in another run, which may have written it elsewhere."""
    found = None if value is None else _place_of(history, partition, value)
    return partition, offset if found is None else found, value


def _place_of(history: History, partition: str, value: object) -> int | None:
    """At which offset a record was written first, if it was."""
    for batch in Append.among(history.trace, partition):
        if value in batch.values:
            return batch.base_offset + batch.values.index(value)
    return None


def _told(
    best: _Valid,
    asked: tuple[str, str | None],
    failing: tuple[History, Anomaly],
    record: tuple[str, int | None, object],
    tried: tuple[tuple[str, ...], tuple[int, int], int],
    marked: Collection[int],
) -> Repair:
    variant, contract = asked
    history, anomaly = failing
    one, other = parse_variant(variant), parse_variant(best.candidate.variant)
    rows = differences(one, other)
    mine, theirs = _stories(best, history, anomaly, record, marked)
    asked_for = f" --contract {contract}" if contract else ""
    command = f"tidemark run --plan PLAN --variant {best.candidate.variant}{asked_for}"
    return Repair(
        best.candidate.variant,
        best.candidate.title,
        best.candidate.wrong,
        tuple(row for row in rows if not _idle(row)),
        best.parting,
        rows_of(mine, theirs, best.parting),
        tried[0],
        tried[1],
        command,
        _is_another_version(best.candidate.variant, variant),
        best.never_written,
        first_difference(history, best.run.history),
        tried[2],
        (tuple(lanes_of(history, record[0], None)), tuple(lanes_of(best.run.history, record[0], None))),
    )


def _idle(row: Difference) -> bool:
    """Whether one of the two has nothing to do there: a consequence of another row."""
    return row.one.startswith(NOTHING_TO_DO) or row.other.startswith(NOTHING_TO_DO)


def _stories(
    best: _Valid,
    history: History,
    anomaly: Anomaly,
    record: tuple[str, int | None, object],
    marked: Collection[int],
) -> tuple[Sequence[Moment], Sequence[Moment]]:
    """The moments of both runs: the story of the failure, or, where it tells of no record or begins too late, the time around the
    step at which they part. The faults of the plan that decided, at the places `marked`, are told of both.
    """
    story = tell(history, anomaly, marked).moments
    theirs = all_moments(best.run.history, *_there(best.run.history, *record), marked)
    first, last = min((one.time for one in story), default=0), max((one.time for one in story), default=0)
    parted = best.parting.time if best.parting is not None else first
    if record[1] is None or parted < first:
        mine = [one for one in all_moments(history, *record, marked) if one.kind != "ask"]
        span = (parted - BEFORE_US, parted + AFTER_US)
        found = [one for one in story if one.kind == "found"]
        theirs = [one for one in theirs if one.kind != "ask"]
        return [*_within(mine, span, parted), *found], _within(theirs, span, parted)
    return story, _within(theirs, (first, last), None)


def _within(moments: Sequence[Moment], span: tuple[int, int], around: int | None) -> list[Moment]:
    return most_telling([one for one in moments if one.decided or span[0] <= one.time <= span[1]], around)
