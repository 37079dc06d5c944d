"""Plays a pairing in all worlds, one run at a time."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.harness.conform.differing_endings import Played, SideBySide
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.conform.players import Player
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.scenario.play import ScenarioOutcome, Tell
from tidemark.harness.scenario.target import CannotPlayError, ScriptError


def conform(
    pairing: Pairing, worlds: Sequence[Player], *, times: int, findings: Sequence[KnownDifference], tell: Tell
) -> SideBySide:
    """Play a pairing everywhere; nowhere else, if the reference does not come to the script's end.

    Args:
        pairing: what to play.
        worlds: where, the reference first.
        times: how often, in worlds where that makes a difference.
        findings: the differences that are known.
        tell: is told what is being done.

    Raises:
        ContainerWorldError: there are no machines to be had.
    """
    played: list[Played] = []
    for world in worlds:
        if played and any(outcome.stopped for outcome in played[0].outcomes):
            break
        played.append(_play(pairing, world, times if world.repeats else 1, tell))
    return SideBySide(pairing, played, findings)


def _play(pairing: Pairing, world: Player, times: int, tell: Tell) -> Played:
    played = Played(world.name, world.system(pairing))
    for number in range(1, times + 1):
        where = f"{world.name}, try {number} of {times}" if times > 1 else world.name
        try:
            played.outcomes.append(play_once(pairing, world, where, tell))
        except CannotPlayError as error:
            played.cannot = str(error)
            break
        except (ContainerWorldError, ScriptError) as error:
            played.failures.append(str(error))
            world.renew()
    return played


def play_once(pairing: Pairing, world: Player, where: str, tell: Tell) -> ScenarioOutcome:
    """One run; begun anew once if it could not be carried out.

    Raises:
        CannotPlayError: this world has no means for it.
        ContainerWorldError, ScriptError: it could not be carried out.
    """

    def told(words: str) -> None:
        tell(f"{where}: {words}")

    try:
        return world.play(pairing, told)
    except (ContainerWorldError, ScriptError) as error:
        told(f"begins anew, because {error}")
        world.renew()
        return world.play(pairing, told)
