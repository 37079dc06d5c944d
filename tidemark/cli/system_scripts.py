"""The scripts that a system of any protocol brings: ``tidemark scenario NAME --system nats:2.15.1``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.verdict.verdict import BY_PROMISES
from tidemark.cli.exits import ANOMALY, VALID, exit_code
from tidemark.cli.options import RESULTS, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.system_option import variant_on
from tidemark.cli.world import World, containers
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.folder import store_verdict
from tidemark.harness.systems.system import SystemRefusalError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.checkers import Verdict
    from tidemark.harness.systems.outside.real_system import Script


def play(name: str, scripts: Mapping[str, Script], world: World, times: int, *, as_json: bool, by_verdict: bool) -> int:
    """Play one of a system's scripts, as often as is asked, and hold each try against its outcome; the exit code.

    Raises:
        click.UsageError: there is none of that name, or its plan cannot be carried out.
    """
    system = world.system
    if name not in scripts:
        known = ", ".join(scripts) or "none"
        raise click.UsageError(f"{system.name} has no script {name!r}; it has {known}")
    script, variant = scripts[name], variant_on(system, system.default_variant)
    with refused(SystemRefusalError, usage=True):
        system.check(script.plan, variant)
    told: list[dict[str, Any]] = []
    console = output(stderr=as_json)
    console.print(f"{name}: {script.about}", highlight=False, soft_wrap=True)
    broken = 0
    with containers(script.plan.cluster.brokers, system) as session:
        for number in range(1, times + 1):
            folder = writable_folder(RESULTS / "scripts" / f"{name}{world.suffix}" / str(number))
            try:
                run = session.execute(script.plan, variant, folder=folder)
            except ContainerWorldError as error:
                broken += 1
                console.print(
                    f"{number} of {times}: not carried out: {error}", highlight=False, markup=False, soft_wrap=True
                )
                continue
            store_verdict(folder, run.verdict, run.digest)
            told.append(_told(name, run.verdict, folder, loses=script.loses))
            console.print(f"{number} of {times}: {_words(told[-1])}", highlight=False, markup=False, soft_wrap=True)
    if as_json:
        click.echo(json.dumps(told, indent=1))
    if broken:
        raise click.ClickException(f"{broken} of {times} could not be carried out")
    if by_verdict:
        return exit_code(one["valid"] for one in told)
    return VALID if all(one["as_expected"] for one in told) else ANOMALY


def _told(name: str, verdict: Verdict, folder: Path, *, loses: bool) -> dict[str, Any]:
    stats = verdict.stats
    if "operations" in stats:  # of an object
        lost = sum(one.verdict in BY_PROMISES for one in verdict.anomalies)
    else:
        lost = stats["acked_lost_violation"] + stats["acked_lost_permitted"]
    return {
        "script": name,
        "as_expected": (lost > 0) == loses and not (verdict.valid == "unknown" and not loses),
        "valid": verdict.valid,
        "contract": verdict.contract,
        "lost": lost,
        "acked": stats["acked"],
        "sentence": verdict.unknown_because or of_acknowledged(stats),
        "folder": str(folder),
    }


def _words(told: Mapping[str, Any]) -> str:
    expected = "as expected" if told["as_expected"] else "NOT as expected"
    return f"{expected}: {told['valid']} under {told['contract']}. {told['sentence']}"
