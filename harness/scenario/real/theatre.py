"""Machines on which many scenarios are acted out, one after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.containers.errors import ContainerWorldError
from harness.containers.node_config import node_config
from harness.containers.node_places import Places
from harness.scenario.real.nodes import Nodes
from harness.scenario.real.stage import RealStage
from nodes.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.containers.machine import Machine
    from harness.scenario.model import Scenario
    from nodes.variant import Variant

TIME_SCALE = 1.0
"""The scripts' times are Kafka's own, long enough for processes on a shared machine with two cores."""


class Theatre:
    """Makes stages on the same machines.

    Args:
        machines: the controller's as 0, brokers from 1; a scenario takes the first ones.
        time_scale: every time of a script, time-outs included, is multiplied by it.
    """

    def __init__(self, machines: Mapping[int, Machine], time_scale: float = TIME_SCALE) -> None:
        self._machines = machines
        self._time_scale = time_scale

    def stage(self, scenario: Scenario, variant: Variant) -> RealStage:
        """A stage for one run.

        Raises:
            ContainerWorldError: there are too few machines.
        """
        cluster = scenario.cluster
        missing = [node for node in (CONTROLLER, *cluster.broker_ids()) if node not in self._machines]
        if missing:
            raise ContainerWorldError(
                f"{scenario.name} needs machines for a controller and {cluster.brokers} brokers, and there are "
                f"{len(self._machines)} in all; add to the hosts file what is missing"
            )
        machines = {node: self._machines[node] for node in (CONTROLLER, *cluster.broker_ids())}
        configure = partial(
            node_config,
            machines=machines,
            places=Places(),
            cluster=replace(cluster, settings=cluster.settings.scaled(self._time_scale)),
            variant=variant,
            first_leader_epoch=scenario.first_epoch,
        )
        return RealStage(scenario, variant, Nodes(machines, configure), self._time_scale)
