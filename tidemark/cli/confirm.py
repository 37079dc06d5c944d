"""``tidemark hunt --confirm``: what was caught is shrunk, written as a script, and played on brokers, without a hand in between."""

from __future__ import annotations

import shutil
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.console import Console

from tidemark.cli.confirm_from_outside import MOST_FAILURES, MOST_PLANS, STURDY, again_on, looked_for, play, sturdy_plan
from tidemark.cli.docker_client import tells
from tidemark.cli.extras import need
from tidemark.cli.output import output
from tidemark.cli.system_option import OWN, system_called, variant_on
from tidemark.cli.typed_options import Options, flag, option
from tidemark.cli.world import containers
from tidemark.harness.conform.expectation import judged
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.folder import store_verdict
from tidemark.harness.scenario import parse_scenario, run_scenario
from tidemark.harness.scenario.show import in_names
from tidemark.harness.scenario.target import CannotPlayError, ScriptError
from tidemark.harness.search.shrink import INTERRUPTED, Budget, causes_of, shrink
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.in_words import conditions, lines_of, shape
from tidemark.harness.simulator.execute import execute
from tidemark.harness.systems.outside.adapter import OutsideSystem
from tidemark.nemesis import read_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rich.status import Status

    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.harness.scenario import Scenario, ScenarioOutcome
    from tidemark.harness.search.confirm import Confirmation, KeptConfirmation, Modelled
    from tidemark.harness.search.hunt.kept_hunt import Catch, KeptHunt
    from tidemark.harness.systems.system import System
    from tidemark.nemesis import Plan

CONTAINERS = "containers"
"""What ``--confirm`` calls Tidemark's own nodes."""
FOLDER = "confirmed"
REPLAYS, NOISES = 5_000, 4
"""Of shrinking, as ``tidemark shrink`` has them."""
ENDED_BY_HAND = "it was ended by Ctrl-C; the same command goes on"
MAY_STOP = 10
"""One in so many tries may end before the script does, or else another script is looked for; one at least."""


class OfNoUseError(Exception):
    """A script of the model cannot be played where it is to be, or too often not to its end; says why."""


class ConfirmOptions(Options):
    """--script, --confirm, --times."""

    as_script: bool = flag("Shrink what was caught and write it as a script, into the folder.", "--script")
    confirm: str | None = option(
        "Then play the script on Tidemark's own nodes in containers, on real brokers, or on another system that the variant is "
        "the model of, and write a page about it.",
        metavar="containers|kafka:VERSION|kafka:[VERSION+]PATH|fluss:VERSION|FILE.py",
    )
    times: int = option("How often --confirm plays the script.", type=click.IntRange(1, 1000), default=10)

    @property
    def wants_script(self) -> bool:
        """Whether what is caught is not the end of it."""
        return self.as_script or self.confirm is not None


class Brokers(NamedTuple):
    """Where scripts are to be played.

    Attributes:
        word: as ``--confirm`` has it. system: what runs there.
        names: what to hunt for, for it to be seen there.
        without: kinds of fault that it cannot suffer.
        contract: its own promise, if it is not the variant's.
    """

    word: str
    system: System
    names: tuple[str, ...]
    without: frozenset[str] = frozenset()
    contract: str | None = None

    @property
    def by_plan(self) -> bool:
        """Whether plans are played there, in place of scripts."""
        return isinstance(self.system, OutsideSystem)


def brokers_for(asked: ConfirmOptions, variant: str, names: tuple[str, ...], partitions: int) -> Brokers | None:
    """What ``--confirm`` asks for, ready to be used: what cannot be had is told before anybody searches.

    Args:
        asked: the options.
        variant: that is hunted in.
        names: of anomalies that are hunted for; any, if empty.
        partitions: of the plans.

    Raises:
        click.UsageError: there is no such system, or it cannot express the variant. click.ClickException: no engine, or no image.
    """
    word = asked.confirm
    if word is None:
        if "times" in asked.typed:
            raise click.UsageError("--times needs --confirm")
        return None
    need(containers=True, report=True)
    from tidemark.cli.docker_client import engine, telling

    system = system_called(OWN if word == CONTAINERS else word)
    without: frozenset[str] = frozenset()
    contract = None
    if isinstance(system, OutsideSystem):
        names, without = looked_for(system, variant, names), frozenset(system.not_suffered)
        contract = system.real.promise
    else:
        variant_on(system, variant)
    if partitions != 1:
        raise click.UsageError("scripts speak about one partition: leave --partitions away")
    with engine() as client, telling() as tell:
        system.install(client, tell)
    return Brokers(word, system, names, without, contract)


class Confirming(NamedTuple):
    """What becomes of what a hunt catches.

    Attributes:
        variant: that was hunted in. contract: by which promise it is judged.
        brokers: where the script is played; nowhere, if only the script is wanted.
        times: how often. again: the command that does all of it.
    """

    variant: str
    contract: str | None
    brokers: Brokers | None
    times: int
    again: str


class Ended(NamedTuple):
    """What came of it: the tries, or the script alone, or why there is none; and whether the person ended it."""

    confirmation: Confirmation | None
    kept: KeptConfirmation | None
    modelled: Modelled | None
    why_not: str = ""
    interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        told: dict[str, Any] = {"script": None, "why_not": self.why_not or None}
        if self.kept is not None and self.modelled is not None:
            told["script" if self.modelled.script else "plan"] = str(_played(self.kept, self.modelled))
        if self.confirmation is not None and self.kept is not None:
            told |= {"page": str(self.kept.page), "summary": str(self.kept.summary), **self.confirmation.to_json()}
        return told


def _played(kept: KeptConfirmation, modelled: Modelled) -> Path:
    """The file that is played."""
    return kept.script if modelled.script else kept.plan


def forget(caught: KeptHunt) -> None:
    """Delete what a hunt's folder has of scripts and tries."""
    shutil.rmtree(caught.results.folder / FOLDER, ignore_errors=True)


def carry_on(caught: KeptHunt, wanted: Confirming) -> Ended:
    """From what a hunt caught to a script and, if brokers were asked for, to a page about its tries.

    Args:
        caught: the hunt's folder; it is told of which catches no script came that can be played.
        wanted: what is to become of it.
    """
    console = output(stderr=True)
    kept, modelled, why_not = None, None, "nothing was caught"
    brokers = wanted.brokers
    try:
        if brokers is not None and isinstance(brokers.system, OutsideSystem):
            return _by_plan(caught, wanted, brokers, brokers.system)
        while True:
            with console.status("shrinking") as status:
                kept, modelled, why_not = _script_of(caught, wanted, status)
            if modelled is None or kept is None:
                return Ended(None, None, None, why_not)
            shown, of = modelled.sturdy
            words = f"script: {kept.script} (shown in {shown} of {of} simulated worlds with slow hands and messages)"
            console.print(words, highlight=False, markup=False, soft_wrap=True)
            if brokers is None:
                return Ended(None, kept, modelled)
            try:
                return Ended(_play(kept, modelled, wanted, brokers, console), kept, modelled)
            except OfNoUseError as error:
                console.print(
                    f"{error}; the next that was caught is tried", highlight=False, markup=False, soft_wrap=True
                )
                caught.of_no_use[_of_catch(caught, kept)] = str(error)
    except KeyboardInterrupt:
        return Ended(None, kept, modelled, ENDED_BY_HAND, interrupted=True)


def make_do(caught: KeptHunt, wanted: Confirming) -> Ended | None:
    """Make the missing tries of the script that was seen most often, though it does not always come to its end: there is no better
    one. Nothing if none was ever seen.
    """
    if wanted.brokers is None or isinstance(wanted.brokers.system, OutsideSystem):
        return None
    seen: list[tuple[float, KeptConfirmation, Modelled]] = []
    for catch in caught.catches:
        kept = _kept_of(caught, catch, wanted.brokers.word)
        if (modelled := kept.modelled()) is not None:
            made = kept.confirmation(modelled, wanted.times, {})
            if made.seen:
                seen.append((made.seen / len(made.tries), kept, modelled))
    if not seen:
        return None
    _, kept, modelled = max(seen, key=lambda one: one[0])
    console = output(stderr=True)
    console.print(f"no script is better: {kept.script} is played on", highlight=False, markup=False, soft_wrap=True)
    try:
        return Ended(_play(kept, modelled, wanted, wanted.brokers, console, patient=True), kept, modelled)
    except KeyboardInterrupt:
        return Ended(None, kept, modelled, ENDED_BY_HAND, interrupted=True)


def _of_catch(caught: KeptHunt, kept: KeptConfirmation) -> str:
    """The file of the catch that a script was made of."""
    return next(one.file for one in caught.catches if one.file.rpartition("/")[2] == kept.folder.name)


def _kept_of(caught: KeptHunt, catch: Catch, word: str) -> KeptConfirmation:
    from tidemark.harness.search.confirm import KeptConfirmation

    return KeptConfirmation(caught.results.folder / FOLDER / catch.file.rpartition("/")[2], word)


def _by_plan(caught: KeptHunt, wanted: Confirming, brokers: Brokers, system: OutsideSystem) -> Ended:
    """The sturdiest plan, played on a system that is seen from outside; nothing, as long as more may be caught, and none is sturdy.

    Those that are not are of no use.
    """
    console = output(stderr=True)

    def commands(file: str) -> tuple[str, ...]:
        return wanted.again, f"tidemark run --variant {quote(wanted.variant)} --plan {quote(file)}"

    with console.status("making it sturdier") as status:
        found = sturdy_plan(
            caught,
            system,
            wanted.variant,
            wanted.contract,
            lambda catch: _kept_of(caught, catch, brokers.word),
            commands,
            status.update,
        )
    if found is None:
        return Ended(None, None, None, "nothing was caught")
    kept, modelled = found
    shown, of = modelled.sturdy
    if shown < STURDY and len(caught.catches) < MOST_PLANS:
        why = f"{kept.plan} is shown under {shown} of {of} noises only"
        caught.of_no_use.update(dict.fromkeys((one.file for one in caught.catches), why))
        return Ended(None, None, None, why)
    words = f"plan: {kept.plan} (the model shows it under {shown} of {of} noises, at its times and at the system's)"
    console.print(words, highlight=False, markup=False, soft_wrap=True)
    failures: dict[int, Any] = {}
    plan = read_plan(kept.plan)
    played = again_on(system, brokers.word, plan, str(kept.plan))
    with containers(plan.cluster.brokers, system) as session, console.status("playing it") as status:
        for one in play(kept, modelled, system, session, wanted.times, wanted.contract):
            if one.failure:
                failures[one.number] = one
            words = f"try {one.number} of {wanted.times} on {brokers.word}"
            status.update(words)
            console.print(f"{words}: {one.in_words}", highlight=False, markup=False, soft_wrap=True)
            _told(kept, modelled, wanted.times, failures, played)
    return Ended(_told(kept, modelled, wanted.times, failures, played), kept, modelled)


def _script_of(
    caught: KeptHunt, wanted: Confirming, status: Status
) -> tuple[KeptConfirmation | None, Modelled | None, str]:
    """The sturdiest script of the smallest plans caught; the first that is shown in all worlds will do."""
    from tidemark.harness.search.script import NoScriptError

    best: tuple[KeptConfirmation, Modelled] | None = None
    for catch in sorted(caught.catches, key=lambda one: (one.faults, one.number)):
        if catch.file in caught.of_no_use:
            continue
        kept = _kept_of(caught, catch, "script" if wanted.brokers is None else wanted.brokers.word)
        modelled = kept.modelled()
        if modelled is None:
            try:
                modelled, plan = _modelled(caught, catch, wanted, status, str(kept.script))
            except NoScriptError as error:
                caught.of_no_use[catch.file] = f"{caught.results.path(catch.file)}: {error}"
                continue
            kept.keep(modelled, plan)
        if best is None or modelled.sturdy > best[1].sturdy:
            best = kept, modelled
        if modelled.sturdy[0] == modelled.sturdy[1]:
            break
    if best is None:
        return None, None, next(reversed(caught.of_no_use.values()), "nothing was caught")
    return *best, ""


def _modelled(caught: KeptHunt, catch: Catch, wanted: Confirming, status: Status, script: str) -> tuple[Modelled, Plan]:
    """Shrink a plan and write it as a script.

    Raises:
        NoScriptError: there is none.
    """
    from tidemark.harness.search.confirm import Modelled
    from tidemark.harness.search.script import NoScriptError, write_script

    variant, contract = wanted.variant, wanted.contract

    def run(plan: Plan) -> JudgedRun:
        return execute(plan, variant, contract)

    plan = read_plan(caught.results.path(catch.file))
    first = run(plan)
    anomaly = chosen(first.verdict, catch.name)
    if anomaly is None:
        raise NoScriptError("the plan does not show it any more")
    cause = causes_of(anomaly, first.verdict, first.history)[0]
    found = shrink(
        plan,
        cause,
        run,
        budget=Budget(REPLAYS),
        noises=NOISES,
        watch=lambda progress: status.update(f"shrinking: {shape(progress.best)}"),
    )
    if found is None:
        raise NoScriptError("no replay shows it again")
    if found.ended == INTERRUPTED:
        raise KeyboardInterrupt
    name = f"{catch.name}-{catch.number}"
    written = write_script(found.after, variant, cause, contract=contract, name=name, tell=status.update)
    played = run_scenario(parse_scenario(written.text), variant)
    told = next(one for one in played.verdict.anomalies if one.name == cause.name)
    return (
        Modelled(
            variant,
            cause.name,
            "; ".join(cause.facts),
            (conditions(found.after), *lines_of(found.after)),
            written.text,
            played.to_json(),
            in_names(played.scenario, told.message),
            (written.sturdy, written.of),
            (wanted.again, f"tidemark scenario {quote(script)}"),
        ),
        found.after,
    )


def _play(
    kept: KeptConfirmation,
    modelled: Modelled,
    wanted: Confirming,
    brokers: Brokers,
    console: Console,
    *,
    patient: bool = False,
) -> Confirmation:
    """Make the tries that are not made yet, and write the page after each.

    Raises:
        click.ClickException: there are no machines. OfNoUseError: nobody can play this script there, or too often not to its end,
            and nobody is `patient`.
    """
    from tidemark.harness.search.confirm import try_of
    from tidemark.harness.search.confirm.tries import failed

    scenario = parse_scenario(modelled.script)
    times = wanted.times
    failures = {}
    in_a_row = 0
    where = "--world docker" if kept.system == CONTAINERS else f"--system {quote(kept.system)}"
    played = f"tidemark scenario {quote(str(kept.script))} {where} --times {times}"
    left = [number for number in range(1, times + 1) if kept.tried(number) is None]
    if not left:
        return _told(kept, modelled, times, {}, played)
    with containers(scenario.cluster.brokers, brokers.system) as session:
        for number in left:
            words = f"try {number} of {times} on {brokers.word}"
            try:
                with console.status(words) as status:
                    machines = session.open().machines
                    folder = kept.of_try(number)
                    told = tells(status, words)
                    outcome = _one_try(modelled, machines, brokers.system, wanted.contract, told, folder)
            except CannotPlayError as error:
                raise OfNoUseError(f"{kept.script} cannot be played on {brokers.word}: {error}") from None
            except (ContainerWorldError, ScriptError) as error:
                one, history = failed(number, str(error)), None
                failures[number] = one
                session.close()
                in_a_row += 1
            else:
                one, history = try_of(number, modelled.anomaly, outcome, outcome.mismatches), outcome.history
                in_a_row = 0
            kept.take(one, history)
            made = [found for found in _told(kept, modelled, times, failures, played).tries if not found.failure]
            console.print(f"{words}: {one.in_words}", highlight=False, markup=False, soft_wrap=True)
            if in_a_row == MOST_FAILURES:
                raise click.ClickException(f"{MOST_FAILURES} tries in a row could not be carried out: {one.failure}")
            stopped = [found.stopped for found in made if found.stopped and not found.seen]
            if len(stopped) > max(1, times // MAY_STOP) and not patient:
                words = f"{len(stopped)} of {len(made)} tries of {kept.script} did not come to its end"
                raise OfNoUseError(f"{words}: {stopped[-1]}")
    return _told(kept, modelled, times, failures, played)


def _one_try(
    modelled: Modelled,
    machines: Mapping[int, Machine],
    system: System,
    contract: str | None,
    tell: Callable[[str], None],
    folder: Path,
) -> ScenarioOutcome:
    """Play it once, judged by the promise that was asked for; its mismatches are what differs from the system's model."""
    from tidemark.checkers import check
    from tidemark.harness.scenario.live.target_factory import LiveTargets

    scenario: Scenario = parse_scenario(modelled.script)
    variant = system.variant(modelled.variant).name
    outcome = run_scenario(
        scenario, variant, LiveTargets(machines, system=system, folder=lambda *_: folder).target, tell
    )
    outcome = judged(outcome, system)
    if contract is not None:
        outcome = replace(outcome, verdict=check(outcome.history, contract))
        store_verdict(folder, outcome.verdict)
    return outcome


def _told(
    kept: KeptConfirmation, modelled: Modelled, times: int, failures: dict[int, Any], played: str
) -> Confirmation:
    """What there is, on the page and in Markdown; `played` is the command that plays it once more."""
    from tidemark.harness.search.confirm.confirmed_page import summary, write_page

    confirmation = kept.confirmation(replace(modelled, commands=(*modelled.commands, played)), times, failures)
    write_page(confirmation, kept.page)
    kept.summary.write_text(summary(confirmation), encoding="utf-8")
    return confirmation


def tell(ended: Ended, console: Console) -> None:
    """In a few lines."""

    def say(words: str) -> None:
        console.print(words, soft_wrap=True, highlight=False, markup=False)

    if ended.why_not and not (ended.interrupted and ended.kept):
        say(f"no script: {ended.why_not}")
    elif ended.interrupted:
        say(ended.why_not)
    if ended.modelled is not None:
        told = ended.modelled if ended.confirmation is None else ended.confirmation.modelled
        say(f"  {told.commands[-1]}")
    if ended.confirmation is not None and ended.kept is not None:
        say(f"{ended.confirmation.in_words}")
        say(f"  {ended.kept.page}")
        say(f"  {ended.kept.summary}")
