"""Machines on which many scenarios are acted out, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.machines.machine import Machine
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.live.outside_nodes import OutsideNodes
from tidemark.harness.scenario.live.outside_target import OutsideTarget
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.outside.adapter import OutsideSystem
from tidemark.harness.systems.system import System
from tidemark.harness.systems.tidemark import TidemarkSystem
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import AnyVariant

TIME_SCALE = 1.0
"""The scripts' times are Kafka's own, long enough for processes on a shared machine with two cores."""


class LiveTargets:
    """Makes targets on the same machines.

    Args:
        machines: the controller's as 0, brokers from 1; a scenario takes the first ones.
        time_scale: every time of a script, time-outs included, is multiplied by it.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        folder: gives a run's folder, for what its nodes leave and what came of it; without it nothing is kept.
    """

    def __init__(
        self,
        machines: Mapping[int, Machine],
        time_scale: float = TIME_SCALE,
        system: System | None = None,
        folder: Callable[[Scenario, AnyVariant], Path] | None = None,
    ) -> None:
        self._machines = machines
        self._time_scale = time_scale
        self._system = system or TidemarkSystem()
        self._folder = folder

    def target(self, scenario: Scenario, variant: AnyVariant) -> LiveTarget:
        """A target for one run.

        Raises:
            ContainerWorldError: there are too few machines.
            CannotPlayError: the system cannot act this scenario out.
        """
        variant = self._system.variant(variant.name)
        cluster = scenario.cluster
        missing = [node for node in (CONTROLLER, *cluster.broker_ids()) if node not in self._machines]
        if missing:
            raise ContainerWorldError(
                f"{scenario.name} needs machines for a controller and {cluster.brokers} brokers, and there are "
                f"{len(self._machines)} in all; add to the hosts file what is missing"
            )
        machines = {node: self._machines[node] for node in (CONTROLLER, *cluster.broker_ids())}
        deployment = Deployment(
            machines,
            replace(cluster, settings=cluster.settings.scaled(self._time_scale)),
            variant,
            first_leader_epoch=scenario.first_epoch,
            given=bool(scenario.given),
            two_log_directories=scenario.moves_logs,
        )
        folder = None if self._folder is None else self._folder(scenario, variant)
        if isinstance(self._system, OutsideSystem):
            return OutsideTarget(scenario, variant, OutsideNodes(deployment, self._system), self._time_scale, folder)
        return LiveTarget(scenario, variant, Nodes(deployment, self._system), self._time_scale, folder)
