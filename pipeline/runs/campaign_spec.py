"""What a campaign runs, and nothing about where or how: the same spec always fills the same tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.harness.runs.own_rules import RuleFile
from tidemark.nemesis import AskedWorkload, PlanError, ProfileError, kinds_of
from tidemark.pipeline.runs.sweep import Cell

SIMULATOR, CONTAINERS, IMPORTED = WORLDS = ("sim", "docker", "imported")
KEEPS = ("violations", "all", "none")


class SpecError(ValueError):
    """A campaign spec that cannot be run; the text is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class CampaignSpec:
    """A paired experiment: every variant meets the plans 0 … `plans` - 1 drawn from `seed`.

    Args:
        name: The campaign's name, part of the tables' paths.
        variants: Protocol variants; the first one is the baseline of a comparison unless another is chosen.
        plans: How many plans each variant meets.
        seed: Seed of the plans and of the noise.
        profile: `intact` (no replica ever loses its log), `destructive`, or any other of :func:`tidemark.nemesis.kinds_of`.
        cluster: What differs from the default cluster, as JSON values by field name.
        contract: The promise to judge by, or `None` for each variant's own.
        world: `sim`, or `docker`: real processes in containers; or `imported`: nothing was run, and each plan is a history that
            somebody brought, whose profile is `imported`, too.
        time_scale: Every time of a plan is multiplied by this; 1 in the simulator.
        clients: The client library of the workload in containers.
        system: What runs in the containers, as ``--system`` calls it.
        broker_config: Further settings of Kafka's brokers, each ``key=value``.
        workload: How busy clients are, where it was asked for, as `AskedWorkload.to_json` has it.
        intensity: A factor on how many faults plans have.
        cells: Of a sweep, whose plans are drawn for them instead (`tidemark.pipeline.runs.sweep`); `cluster` is the first one's.
        rules: Truncation rules that somebody brought and the variants name; a rule's text is part of what is run.
        keep: Whose operations and traces are stored: the first `violations` of each chunk, `all` runs, or `none`.

    Raises:
        SpecError: A field holds something that cannot be run.
    """

    name: str
    variants: tuple[str, ...]
    plans: int
    seed: int
    profile: str = "intact"
    cluster: Mapping[str, Any] = field(default_factory=dict)
    contract: str | None = None
    keep: str = "violations"
    world: str = "sim"
    time_scale: float = 1
    clients: str = "confluent"
    system: str = "tidemark"
    broker_config: tuple[str, ...] = ()
    workload: Mapping[str, float] = field(default_factory=dict)
    rules: tuple[RuleFile, ...] = ()
    intensity: float = 1
    cells: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a spec that would fail only after Spark has started."""
        if not self.name or self.name.startswith("."):
            raise SpecError(f"A campaign needs a name that does not begin with a dot, not {self.name!r}.")
        if not self.variants or len(set(self.variants)) != len(self.variants):
            raise SpecError("A campaign needs at least one variant, each named once.")
        if self.plans < 1:
            raise SpecError(f"A campaign needs at least one plan, not {self.plans}.")
        if self.world not in WORLDS:
            raise SpecError(f"World {self.world!r} is none of {', '.join(WORLDS)}.")
        if self.world != IMPORTED:
            try:
                kinds_of(self.profile)
            except ProfileError as error:
                raise SpecError(f"Profile {self.profile!r}: {error}.") from None
        elif self.profile != IMPORTED:
            raise SpecError(f"Profile {self.profile!r} is not {IMPORTED!r}.")
        if self.keep not in KEEPS:
            raise SpecError(f"keep={self.keep!r} is none of {', '.join(KEEPS)}.")
        try:
            AskedWorkload.from_json(self.workload)
        except PlanError as error:
            raise SpecError(f"The workload {dict(self.workload)!r} is {error}.") from None

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON values."""
        told: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return told

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CampaignSpec:
        """Read what `to_json` wrote.

        Raises:
            SpecError: A field is missing, unknown or wrong.
        """
        try:
            plain = {
                "variants": tuple(data["variants"]),
                "cluster": dict(data.get("cluster", {})),
                "broker_config": tuple(data.get("broker_config", ())),
                "workload": dict(data.get("workload", {})),
                "rules": tuple(RuleFile(**rule) for rule in data.get("rules", ())),
                "cells": tuple(map(Cell.from_json, data.get("cells", ()))),
            }
            return cls(**{**data, **plain})
        except (TypeError, KeyError) as error:
            raise SpecError(f"Not a campaign spec: {error}.") from error
