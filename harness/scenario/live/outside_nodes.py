"""The nodes of a scenario on a system that is seen from outside: how they stand is what the system's view says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.evidence.partition_disk import Batches, Disk
from tidemark.harness.live.link_faults import LinkFault
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario.live.cluster_view import ClusterView
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.snapshots import Glance
from tidemark.harness.scenario.target import PARTITION, ScriptError
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from tidemark.harness.machines.admin_channel import AdminReply
    from tidemark.harness.systems.outside.adapter import OutsideSystem

NOT_SEEN = -1
"""What no view tells."""


class OutsideNodes(Nodes):
    """Keepers of programs that somebody else wrote."""

    system: OutsideSystem

    def status(self, node: int) -> AdminReply | None:
        """Whether its program runs, and how the system says that it stands; without a log of which it says nothing now."""
        found = super().status(node)
        if found is None:
            return None
        replicas = self.deployment.cluster.assignment()[PARTITION]
        stands = self.system.stands(node, self.machines[node], PARTITION, replicas)
        return {**found, "partitions": {} if stands is None else {PARTITION: stands}}

    def cut(self, key: str, source: int, to: int) -> None:
        """What runs beside the nodes has no firewall of ours: of a link to it the other direction is cut
        (:meth:`tidemark.harness.scenario.live.outside_target.OutsideTarget.block` sees to it that it is).
        """
        super().cut(key, source, to)
        if source == CONTROLLER and to in self.nodes:
            self.links.add(self._cuts[key], LinkFault(((source, to),), "cut"))
            self.nodes[to].apply_links()


class OutsideView(ClusterView):
    """Looks at them; logs are read as the system reads them."""

    _nodes: OutsideNodes

    def disk(self, broker: int) -> Disk:
        """A node's log. Where only a program that runs shows it, what it showed last; empty where nobody ever sees it."""
        nodes = self._nodes
        try:
            batches = nodes.system.final_log(broker, nodes.machines[broker], PARTITION)
        except NodeError as error:
            if broker not in nodes.down and broker not in nodes.paused:
                raise ScriptError(str(error)) from error
            return Disk(self._logs.get(broker, []), (), 0)
        found: Batches = []
        for base, epoch, values in batches or ():
            if not all(isinstance(value, int) for value in values):
                raise ScriptError(f"node {broker} has {values[0]!r} in its log, which is no record of a script")
            found.append((base, epoch, tuple(int(value) for value in values)))
        self._logs[broker] = found
        return Disk(found, (), 0)

    def glance(self, broker: int) -> Glance:
        """A quick look at one replica. Of a follower that does not say whom it follows, who leads in its epoch."""
        replica = self.replica(broker)
        if replica is None:
            return self.glance_at_disk(broker)
        leader, epoch = replica["leader"], replica["leader_epoch"]
        if leader == NOT_SEEN:
            partition = self._nodes.observation.partition()
            leader = partition["leader"] if partition["leader_epoch"] == epoch else NOT_SEEN
        role = replica["role"]
        return Glance(role, epoch, leader if role == "follower" else -1, replica["leo"], replica["hw"], NOT_SEEN)

    def held(self, _broker: int) -> dict[str, Batches]:
        """Nothing that a trace could be held against: there is none."""
        return {}

    def final(self, broker: int) -> tuple[object, ...] | None:
        """Its log, and whether it leads."""
        replica = self.replica(broker)
        if replica is None or not self._nodes.system.real.shows_logs:
            return None
        batches = self.disk(broker).batches
        end = batches[-1][0] + len(batches[-1][2]) if batches else 0
        return replica["role"], -1, end, end, (), tuple(batches)
