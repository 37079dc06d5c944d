"""The shell script that repeats a script's run with Docker and Kafka's own tools."""

from __future__ import annotations

import re
from importlib.resources import files
from shlex import join, quote
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.harness.handover.repeat.shell_target import ShellTarget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.harness.scenario.model import Scenario

LAYOUT: Final = frozenset(
    {
        "node.id",
        "process.roles",
        "log.dirs",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "controller.quorum.voters",
        "controller.listener.names",
    }
)
"""Settings that say where a node is. The shell script writes its own."""
SESSION, LAG = "broker.session.timeout.ms", "replica.lag.time.max.ms"
"""Settings of the times that the shell script makes longer."""
PATIENT_MS: Final = 120_000
"""A session, and how long a follower may lag, is at least that: Kafka's tools take seconds to start, one after the other."""
CHOSEN_MS: Final = 30_000
"""A session of the run that is as long as that was chosen for these tools, and what the script does is timed by it."""
OLDEST_IMAGE: Final = (3, 7)
"""The first Kafka of which there is an image ``apache/kafka``."""


class ShellScript(NamedTuple):
    """The script, and what of the scenario is not in it, or not exactly so: (command, why)."""

    text: str
    cannot: list[tuple[str, str]]
    nearly: list[tuple[str, str]]


def why_not(scenario: Scenario | None, oldest: str, properties: Mapping[str, str]) -> str:
    """Why no shell script can be made; empty if one can."""
    if scenario is None:
        return "the run followed a plan and no script: tidemark shrink --script writes one that shows the same"
    if "process.roles" not in properties:
        return "the cluster had ZooKeeper, of which Apache Kafka has no image"
    if "," in properties.get("controller.quorum.voters", ""):
        return "the cluster had several controllers, and the script has one"
    if tuple(map(int, oldest.split(".")[:2])) < OLDEST_IMAGE:
        return f"there is no image apache/kafka:{oldest}"
    if scenario.given:
        return "the brokers began with logs that were laid on their disks"
    return ""


def shell_script(
    scenario: Scenario, variant: str, releases: Sequence[str], properties: Mapping[str, str], verdict: str
) -> ShellScript:
    """Write it.

    Args:
        scenario: what was played.
        variant: whose commands were carried out.
        releases: of Kafka: one; or that which brokers start with, and that which they run from their second start on.
        properties: a broker's, as it ran.
        verdict: of the run, in a sentence.
    """
    version, *later = releases
    target = ShellTarget(scenario)
    for step in scenario.steps:
        target.lines += ["", f"say {quote(f'{step.number}. {step.words}')}"]
        for command in step.commands:
            if command.variants is None or variant in command.variants:
                target.carry_out(command)
    own = int(properties[SESSION])
    session = own if own >= CHOSEN_MS else PATIENT_MS
    lines = [
        "#!/usr/bin/env bash",
        *_comment(f"{scenario.name}: {scenario.title}."),
        "#",
        *_comment(scenario.about),
        "#",
        *_comment(
            f"Repeats that on Apache Kafka {in_words(releases)} with Docker and Kafka's own tools. With Tidemark: {verdict} Exit "
            "code 1: an acknowledged record was lost, an accepted reassignment was not carried out, or in the end nobody leads or "
            "not all replicas are in sync; 0: none of these; 2: it could not be played to its end."
        ),
        "#",
        "#   ./repeat.sh",
        "#   IMAGE=my/kafka:patched ./repeat.sh     another image, with Kafka in /opt/kafka, bash and the command ip",
        *("#   LATER=my/kafka:patched ./repeat.sh     the same for the newer release" for _ in later),
        "#   KEEP=1 ./repeat.sh                     leaves the containers",
        "#",
        *_comment(
            "Kafka's tools take seconds to start, where the clients of the run took none. So broker.session.timeout.ms and "
            f"replica.lag.time.max.ms may be longer than in the run ({properties[SESSION]} and "
            f"{properties[LAG]}): see SESSION_MS and LAG_MS. Producers wait ten minutes for an answer and "
            "never try again. Values of records are their names."
        ),
        *_notes("Not exactly as in the run:", target.nearly),
        *_notes("CANNOT be done with Kafka's tools, so this script stops there:", target.cannot),
        "set -u",
        "",
        f'IMAGE="${{IMAGE:-apache/kafka:{version}}}"',
        f'LATER="{"".join(f"${{LATER:-apache/kafka:{one}}}" for one in later)}"',
        f"BROKERS={scenario.cluster.brokers}",
        *(f"NAME_{number}={quote(name)}" for number, name in enumerate(("controller", *scenario.brokers))),
        f'TWO_LOG_DIRECTORIES="{"yes" if scenario.moves_logs else ""}"',
        f'DEAF="{" ".join(map(str, sorted(target.deaf)))}"',
        f"REPLICAS={':'.join(map(str, next(iter(scenario.cluster.assignment().values()))))}",
        f'SESSION_MS="${{SESSION_MS:-{session}}}"',
        f'LAG_MS="${{LAG_MS:-{_at_least(properties[LAG], PATIENT_MS)}}}"',
        f"TOPIC_SETTINGS={quote(_topic(properties))}",
        f"SETTINGS={quote(_settings(properties))}",
        "",
        files("tidemark.harness.handover.repeat").joinpath("cluster.sh").read_text(encoding="utf-8"),
        "# ---------------------------------------------------------------- what happens",
        "",
        "bring_up",
        *target.lines,
        "",
        "judges",
        "",
    ]
    return ShellScript("\n".join(lines), target.cannot, target.nearly)


def in_words(releases: Sequence[str]) -> str:
    """Such as ``4.3.1``, or ``3.9.2, upgraded to 4.3.1``."""
    return ", upgraded to ".join(releases)


def _at_least(value: str, least: int) -> str:
    return str(max(int(value), least))


def _topic(properties: Mapping[str, str]) -> str:
    names = ("min.insync.replicas", "unclean.leader.election.enable")
    return join([word for name in names for word in ("--config", f"{name}={properties[name]}")])


def _settings(properties: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in properties.items() if name not in {*LAYOUT, SESSION, LAG})


def _comment(words: str) -> list[str]:
    return [f"# {line}" for line in re.findall(r"\S.{0,126}(?=\s|$)", " ".join(words.split()))]


def _notes(head: str, notes: list[tuple[str, str]]) -> list[str]:
    if not notes:
        return []
    return ["#", f"# {head}", *(line for text, why in notes for line in _comment(f"- {text}: {why}"))]
