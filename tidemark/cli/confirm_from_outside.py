"""``tidemark hunt --confirm`` on a system that is seen from outside: what its model loses under every noise is played as a plan.

A script waits for what it sees inside a broker; here there is a client, and perhaps a view. So a caught plan is made sturdier until
the model loses under nearly any delays, at the system's own times too, and is played at these.
"""

from __future__ import annotations

from math import sqrt
from shlex import quote
from typing import TYPE_CHECKING

import click

from tidemark.checkers.registry import of_clients
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.folder import store_verdict
from tidemark.harness.search.confirm.tries import Modelled, failed, try_of_run
from tidemark.harness.search.shrink import causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.in_words import conditions, lines_of
from tidemark.harness.search.shrink.judge import noises_of
from tidemark.harness.search.sturdier import NOISES, Sturdy, sturdier
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Plan, read_plan
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.live.session import ContainerSession
    from tidemark.harness.search.confirm import KeptConfirmation
    from tidemark.harness.search.confirm.tries import Try
    from tidemark.harness.search.hunt.kept_hunt import Catch, KeptHunt
    from tidemark.harness.systems.outside.adapter import OutsideSystem

LOOKED_FOR = ("lost-write",)
"""What is hunted for unless somebody says what."""
STURDY = NOISES - 1
"""Shown under so many noises a plan will do."""
MOST_PLANS = 4
"""So many of the caught plans are made sturdier."""
MOST_FAILURES = 3
"""So many tries in a row that could not be carried out are enough."""


def looked_for(system: OutsideSystem, variant: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What to hunt for.

    Raises:
        click.UsageError: the variant is not the system's model, or nobody would see one of these there.
    """
    model = system.modelled_by
    if not model:
        raise click.UsageError(f"none of our variants is the model of {system.name}: a system names its own as `model`")
    if parse_variant(variant).name != model:
        raise click.UsageError(f"the model of {system.name} is {model}: hunt with --variant {model}")
    shown = {name for checker in of_clients() for name in checker.meanings}
    shown |= {"divergence"} if system.real.shows_logs else set()
    for name in names:
        if name not in shown:
            raise click.UsageError(
                f"nobody would see {name} on {system.name}, where only clients and the logs at the end tell anything; there are "
                f"{', '.join(sorted(shown))}"
            )
    return names or LOOKED_FOR


def sturdy_plan(
    caught: KeptHunt,
    system: OutsideSystem,
    variant: str,
    contract: str | None,
    of: Callable[[Catch], KeptConfirmation],
    commands: Callable[[str], tuple[str, ...]],
    tell: Callable[[str], None],
) -> tuple[KeptConfirmation, Modelled] | None:
    """The sturdiest plan of those that were caught, kept; the first that is sturdy enough will do. None: nothing was caught.

    Args:
        caught: the hunt's folder.
        system: that it is to be shown on.
        variant: that was hunted in.
        contract: by which promise it is judged.
        of: where what becomes of a catch is kept.
        commands: how to see a plan of this file again.
        tell: hears what is being done.
    """
    best: tuple[KeptConfirmation, Modelled] | None = None
    for catch in sorted(caught.catches, key=lambda one: (one.faults, one.number))[:MOST_PLANS]:
        kept = of(catch)
        modelled = kept.modelled()
        if modelled is None:
            plan = read_plan(caught.results.path(catch.file))
            scale = scale_of(system, plan)

            def shows(plan: Plan, name: str = catch.name) -> bool:
                return chosen(execute(plan, variant, contract).verdict, name) is not None

            paces = (1.0, sqrt(scale), scale)
            found = sturdier(plan, shows, paces, lambda one: tell(f"making it sturdier: {_in_words(one)}"))
            shown = next((one for one in noises_of(found.plan, NOISES) if shows(one)), found.plan)
            found = found._replace(plan=shown)
            modelled = _modelled(found, variant, contract, catch.name, commands(str(kept.plan)))
            kept.keep(modelled, found.plan)
        if best is None or modelled.sturdy > best[1].sturdy:
            best = kept, modelled
        if modelled.sturdy[0] >= STURDY:
            break
    return best


def _in_words(one: Sturdy) -> str:
    return f"{len(one.plan.faults)} faults, shown under {one.shown} of {NOISES} noises"


def _modelled(found: Sturdy, variant: str, contract: str | None, name: str, commands: tuple[str, ...]) -> Modelled:
    run = execute(found.plan, variant, contract)
    anomaly = chosen(run.verdict, name)
    cause = causes_of(anomaly, run.verdict, run.history)[0] if anomaly is not None else None
    return Modelled(
        variant,
        name,
        "; ".join(cause.facts) if cause is not None else "of what other noises bring about",
        (conditions(found.plan), *lines_of(found.plan)),
        "",
        {},
        anomaly.message if anomaly is not None else "",
        (found.shown, NOISES),
        commands,
    )


def scale_of(system: OutsideSystem, plan: Plan) -> float:
    """By how much a plan's times are multiplied, so that its sessions are as long as the system's."""
    session_us = plan.cluster.settings.session_us
    return max(system.time_scale, system.real.session_s * 1e6 / session_us)


def again_on(system: OutsideSystem, word: str, plan: Plan, file: str) -> str:
    """The command that plays it there."""
    return f"tidemark run --system {quote(word)} --plan {quote(file)} --time-scale {scale_of(system, plan):g}"


def play(
    kept: KeptConfirmation,
    modelled: Modelled,
    system: OutsideSystem,
    session: ContainerSession,
    times: int,
    contract: str | None,
) -> Iterator[Try]:
    """Make the tries that are not made yet; each is kept before it is told, but for one that could not be carried out.

    Raises:
        click.ClickException: several in a row could not be.
    """
    plan = read_plan(kept.plan)
    scaled, in_a_row = plan.scaled(scale_of(system, plan)), 0
    for number in (number for number in range(1, times + 1) if kept.tried(number) is None):
        try:
            run = session.execute(scaled, system.variant(system.name), contract, folder=kept.of_try(number))
        except ContainerWorldError as error:
            in_a_row += 1
            yield failed(number, str(error))
            if in_a_row == MOST_FAILURES:
                raise click.ClickException(
                    f"{MOST_FAILURES} tries in a row could not be carried out: {error}"
                ) from None
            continue
        in_a_row = 0
        store_verdict(kept.of_try(number), run.verdict, run.digest)
        one = try_of_run(number, modelled.anomaly, run)
        kept.take(one, None)
        yield one
