"""What ``tidemark shrink`` shrinks, and what it looks for: which run, and which anomaly of what cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.checkers import HistoryFormatError
from tidemark.cli.exits import UNKNOWN, exit_code
from tidemark.cli.plan_options import PlanOptions
from tidemark.cli.refused import refused
from tidemark.harness.search.shrink import Budget, BudgetSpentError, Cause, causes_of
from tidemark.harness.search.shrink.as_it_happened import ways_it_may_have_gone
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.stored_run import StoredRun, in_model, stored_run
from tidemark.nemesis import PlanError
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan

VARIANT = "kafka-2.7"
IN_MODEL = 4
"""What a run of a real world showed is looked for in the model under so many times as many noises."""


class NothingToShrinkError(Exception):
    """Nothing can be shrunk; with the exit code, and a sentence that says why."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be shrunk.

    Attributes:
        plan, variant, contract: what is replayed, and by which promise it is judged (None: the variant's own).
        name: what it is called. source: what it is shrunk from, in words. stored: the run it comes from, if it is a stored one.
    """

    plan: Plan
    variant: str
    contract: str | None
    name: str
    source: str
    stored: StoredRun | None


@dataclass(frozen=True, slots=True)
class Aim:
    """What is looked for: a plan that shows it, the cause, how many records were acknowledged at first, and what to know."""

    plan: Plan
    cause: Cause
    acked: int
    notes: tuple[str, ...] = ()


def task_of(
    folder: Path | None, asked: PlanOptions, variant: str | None, contract: str | None, anomaly: str | None
) -> Task:
    """What somebody asks for: the run in a folder, which shows the anomaly, or a plan.

    Raises:
        click.ClickException: the options contradict each other, or there is no such run or plan.
    """
    if folder is None:
        variant = variant or VARIANT
        plan = asked.plan()
        return Task(plan, variant, contract, f"{variant}-{asked.name(plan)}", asked.origin(plan), None)
    for word in asked.typed.values():
        raise click.UsageError(f"{word} cannot be given with a stored run: its plan says it")
    try:
        with refused(PlanError, HistoryFormatError):
            stored = stored_run(folder, anomaly, contract)
    except OSError as error:
        raise click.ClickException(f"{folder} is no run's folder: {error.filename}: {error.strerror}") from None
    variant = variant or stored.variant
    if variant is None:
        raise click.UsageError("the history does not say which variant ran: name one with --variant")
    try:
        variant = parse_variant(variant).name
    except VariantError as error:
        raise click.UsageError(
            f"the stored run's variant is none of the model's ({error}): name one with --variant"
        ) from None
    own = folder.resolve().name
    name = own if own.startswith(variant) else f"{variant}-{own}"
    return Task(stored.plan, variant, contract, name, own, stored)


def aim_of(task: Task, run: Callable[[Plan], JudgedRun], budget: Budget, name: str | None, noises: int) -> Aim:
    """What to look for.

    Args:
        task: what is shrunk.
        run: replays a plan.
        budget: how many replays are left.
        name: of the anomaly, if it is not the first violation that the others follow from.
        noises: so many are tried for each candidate.

    Raises:
        NothingToShrinkError: there is nothing, or the model does not show it.
    """
    stored, what = task.stored, name or "violation"
    if stored is None:
        first = run(task.plan)
        anomaly = chosen(first.verdict, name)
        if anomaly is None:
            raise NothingToShrinkError(
                exit_code([first.verdict.valid]) if name is None else UNKNOWN,
                f"This plan shows no {what} under {task.variant}: there is nothing to shrink.",
            )
        return Aim(task.plan, causes_of(anomaly, first.verdict, first.history)[0], first.verdict.stats["acked"])
    if stored.anomaly is None or stored.cause is None:
        code = exit_code([stored.verdict.valid]) if name is None else UNKNOWN
        raise NothingToShrinkError(code, f"The stored run shows no {what}: there is nothing to shrink.")
    notes = [f"left out, for the simulator cannot do them: {', '.join(stored.left_out)}"] if stored.left_out else []
    acked = stored.verdict.stats["acked"]
    if not stored.is_real:
        return Aim(task.plan, stored.cause, acked, tuple(notes))
    ways = ways_it_may_have_gone(task.plan, stored.happened, IN_MODEL * noises)
    try:
        found = in_model(ways, stored.anomaly, stored.cause, run, budget=budget)
    except BudgetSpentError:
        found = None
    if found is None:
        raise NothingToShrinkError(
            UNKNOWN,
            f"The model, {task.variant}, shows no {stored.anomaly.name} with this plan or with what this run did, in any of "
            f"{budget.replays} replays under other noises and delays.",
        )
    plan, cause = found
    if cause != stored.cause:
        notes.append(f"in the stored run: {'; '.join(stored.cause.facts)}")
    return Aim(plan, cause, acked, tuple(notes))
