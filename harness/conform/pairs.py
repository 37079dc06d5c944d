"""Every script on every binary and protocol version: what can be held side by side there, and why the rest cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from tidemark.harness.conform.ending import Ending, ending
from tidemark.harness.conform.epochs import Reign, reigns
from tidemark.harness.conform.pairing import Pairing
from tidemark.harness.conform.players import SimulatorPlayer
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.systems.capabilities import LaysOutLogs, refuses_given_logs, why_not_judged_by_logs
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.nodes.core.variant import PRESETS

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.@+]+")


@dataclass(frozen=True, slots=True)
class Pair:
    """A script on a binary that is held to a protocol.

    Attributes:
        on: the system that plays it, as ``--systems`` calls it; it may be held to several protocols.
        pairing: script, preset, model, and the binary with its protocol.
        cannot: why it cannot be played, as a sentence; empty if it can.
        reference: how the model ends in the simulator; None if it cannot be played.
        reigns: the model's leader epochs.
    """

    on: str
    pairing: Pairing
    cannot: str = ""
    reference: Ending | None = None
    reigns: tuple[Reign, ...] = ()

    @property
    def name(self) -> str:
        """Names its result, also as a file."""
        parts = (self.pairing.scenario.name, self.pairing.system, self.pairing.preset)
        return "--".join(_NOT_IN_A_NAME.sub("-", part) for part in parts)

    @property
    def inputs(self) -> dict[str, str]:
        """What a result depends on, as digests: the script's text, and how the model ends."""
        told = json.dumps(self.reference.to_json(), sort_keys=True) if self.reference is not None else ""
        return {"script": _digest(self.pairing.scenario.text), "model": _digest(told)}


def all_pairs(scenarios: Iterable[Scenario], systems: Mapping[str, System]) -> Iterator[Pair]:
    """All pairs, system by system, protocol by protocol, and in each script by script. The model of each is asked on the way.

    Args:
        scenarios: the scripts.
        systems: name → system; a binary is held to each protocol that a preset stands for.
    """
    scenarios = list(scenarios)
    for on, system in systems.items():
        for preset in PRESETS:
            try:
                found = system.model(preset)
            except SystemRefusalError:
                continue
            model, name = found or (preset, system.name)
            for scenario in scenarios:
                yield _pair(on, Pairing(scenario, preset, model, name), system)


def _pair(on: str, pairing: Pairing, system: System) -> Pair:
    scenario = pairing.scenario
    if pairing.preset not in scenario.outcomes:
        return Pair(on, pairing, f"the script says nothing of {pairing.preset}")
    cannot = why_not_judged_by_logs(system)
    if not cannot and scenario.given and not isinstance(system, LaysOutLogs):
        cannot = refuses_given_logs(system.name)
    if cannot:
        return Pair(on, pairing, cannot)
    outcome = SimulatorPlayer().play(pairing, lambda _: None)
    if outcome.stopped:
        return Pair(on, pairing, f"its model, {pairing.model}, does not come to the script's end: {outcome.stopped}")
    return Pair(on, pairing, "", ending(outcome), tuple(reigns(outcome.history.trace)))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
