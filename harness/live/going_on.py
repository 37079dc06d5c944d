"""Whether the nodes of a run may go on into the next: what a run has done to them must not be there any more.

Starting the nodes is two fifths of what a run on real brokers costs. A run on nodes that go on has new topics and new clients, and
everything it is judged by begins with it; only the processes are older.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.harness.live.contained_node import CLOCK_JUMP
from tidemark.nemesis.kinds import MEMBERSHIP, MOVES_LOGS, SETTINGS, UNCLEAN_SETTING, kinds_that_need

if TYPE_CHECKING:
    from tidemark.harness.live.live_cluster import LiveCluster
    from tidemark.harness.systems.deployment import Deployment
    from tidemark.nemesis import Plan

MOST_RUNS = 20
"""One after the other on the same processes."""


@dataclass(slots=True)
class NodesLeft:
    """The nodes that the last run left, if it left any.

    Attributes:
        started_for: the run that they were started for; None: there are none.
        runs: how many they have carried out.
    """

    started_for: Deployment | None = None
    runs: int = 0

    def by(self, deployment: Deployment) -> None:
        """A run has left them; one more, if they went on into it."""
        self.started_for, self.runs = deployment, self.runs + 1

    def none(self) -> None:
        """There are none."""
        self.started_for, self.runs = None, 0


def may_go_on(cluster: LiveCluster, plan: Plan) -> bool:
    """Whether a run that came to its end has left its nodes as they were: all run, none gave up, and no fault changed what lasts
    longer than its topics (settings, members, log directories, clocks, damaged files).
    """
    processes = cluster.processes
    if not all(map(processes.running, cluster.nodes)) or processes.damaged():
        return False
    if processes.died or processes.starved or processes.gave_up_damaged or processes.started_again:
        return False
    lasting = MOVES_LOGS.union({CLOCK_JUMP}, *map(kinds_that_need, (SETTINGS, UNCLEAN_SETTING, MEMBERSHIP)))
    return not cluster.deployment.workload and lasting.isdisjoint(fault.kind for fault in plan.faults)
