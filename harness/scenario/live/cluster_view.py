"""Looking at a script's replicas: what processes say of them, and what lies on their disks."""

from __future__ import annotations

from typing import Any

from tidemark.harness.evidence.partition_disk import Batches, Disk, read_journal, read_memory
from tidemark.harness.live.final_states import final_fields
from tidemark.harness.scenario.live.nodes import Nodes
from tidemark.harness.scenario.live.observation import carried_out
from tidemark.harness.scenario.model import Scenario
from tidemark.harness.scenario.snapshots import Glance, ReplicaSnapshot
from tidemark.harness.scenario.target import PARTITION, ScriptError
from tidemark.harness.systems.capabilities import ReadsLogs
from tidemark.nodes.formats.journal import directory_of


class ClusterView:
    """Looks at the nodes of one scenario; every look may raise ``ScriptError``."""

    def __init__(self, scenario: Scenario, nodes: Nodes, *, in_memory: bool = False) -> None:
        """``in_memory``: logs lie in no file."""
        self._scenario = scenario
        self._nodes = nodes
        self._in_memory = in_memory
        self._logs: dict[int, Batches] = {}

    def replica(self, broker: int) -> dict[str, Any] | None:
        """How a broker's replica stands; `None` if its process is gone, or knows no partition."""
        status = self._nodes.observation.status(broker)
        return status["partitions"].get(PARTITION) if status is not None else None

    def disk(self, broker: int) -> Disk:
        """What lies on a broker's disk; where logs lie in no file, what a process that runs has in memory."""
        if self._in_memory:
            return Disk(self._memory(broker), (), 0)
        system = self._nodes.system
        if not isinstance(system, ReadsLogs):
            raise ScriptError(f"nobody can read the logs of {system.name}")
        with carried_out():
            return system.read_disk(self._nodes.controls[broker], PARTITION)

    def _memory(self, broker: int) -> Batches:
        """The log that a process has; of one that is paused, what it had when it was looked at last."""
        if broker in self._nodes.down:
            return []
        if broker not in self._nodes.paused:
            with carried_out():
                self._logs[broker] = read_memory(self._nodes.controls[broker], PARTITION)
        return self._logs.get(broker, [])

    def held(self, broker: int) -> dict[str, Batches]:
        """What a broker's files hold, by directory: its log, or, where that lies in no file, its journal."""
        if not self._in_memory:
            return {PARTITION: self.disk(broker).batches}
        with carried_out():
            return {directory_of(PARTITION): read_journal(self._nodes.controls[broker], PARTITION)}

    def glance(self, broker: int) -> Glance:
        """A quick look at one replica."""
        replica = self.replica(broker)
        if replica is None:
            return self.glance_at_disk(broker)
        role = self._role(broker, replica)
        leader = replica["leader"] if role == "follower" else -1
        start, start_on_disk = replica.get("start", 0), replica.get("checkpointed_start", 0)
        known = replica["leo"], replica["hw"], replica["checkpointed_hw"], start, start_on_disk
        return Glance(role, replica["leader_epoch"], leader, *known)

    def glance_at_disk(self, broker: int) -> Glance:
        """A quick look at a replica of which no process says anything."""
        disk = self.disk(broker)
        leo, start = _end(disk), disk.start
        return Glance(self._without_partition(broker), -1, -1, leo, min(disk.hw, leo), disk.hw, start, start)

    def state(self, broker: int) -> ReplicaSnapshot:
        """One replica, with the log that is in its file."""
        replica = self.replica(broker)
        disk = self.disk(broker)
        start = disk.start if replica is None else replica.get("start", 0)
        log = self._scenario.named(disk.batches, start)
        if replica is None:
            role, leo = self._without_partition(broker), _end(disk)
            return ReplicaSnapshot(broker, role, -1, log, leo, min(disk.hw, leo), disk.epochs, start=start)
        cache = tuple((epoch, start) for epoch, start in replica["epochs"])
        paused = broker in self._nodes.paused
        epoch = replica["leader_epoch"]
        role = self._role(broker, replica)
        return ReplicaSnapshot(broker, role, epoch, log, replica["leo"], replica["hw"], cache, paused, start)

    def _role(self, broker: int, replica: dict[str, Any]) -> str:
        """What a server is; one that is in no group that changes its members has no replica, whatever it has."""
        outside = "members" in replica and broker not in self._nodes.replicas_of(PARTITION)
        return "no replica" if outside else str(replica["role"])

    def _without_partition(self, broker: int) -> str:
        if broker in self._nodes.down:
            return "down"
        return "no leader" if broker in self._nodes.replicas_of(PARTITION) else "no replica"

    def final(self, broker: int) -> tuple[object, ...] | None:
        """The fields of the trace's ``final``; `None` if the broker has no replica that runs."""
        replica = self.replica(broker)
        if replica is None or broker not in self._nodes.replicas_of(PARTITION):
            return None
        return final_fields(replica, self.disk(broker).batches)


def _end(disk: Disk) -> int:
    return disk.batches[-1][0] + len(disk.batches[-1][2]) if disk.batches else disk.start
