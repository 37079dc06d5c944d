"""The process of a server of a family without a controller: it elects with the others, and keeps its votes on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.nodes.admin.trace_file import Entry
from tidemark.nodes.core.actions import Append
from tidemark.nodes.core.messages import LeaderAndIsr
from tidemark.nodes.core.recovery import Recovered
from tidemark.nodes.families.family import Machine
from tidemark.nodes.families.raft.configurations import members_of
from tidemark.nodes.families.voting.server import Server
from tidemark.nodes.formats.record_batch import Records, leader_change, voters
from tidemark.nodes.process.log_driver import LogDriver, NodeSide
from tidemark.nodes.process.wire.voting_peers import VotingPeers

CLOCK_DRIFT_PPM = 1_000
"""Linux slews CLOCK_MONOTONIC by at most 500 ppm (adjtimex(2)), and so two of them differ by at most twice as much."""


class VotingDriver(LogDriver):
    """One server's process."""

    @property
    def states(self) -> Mapping[str, LeaderAndIsr]:
        """Partition → whom this server knows as leader, for clients; all members are called in sync. Who is no member may have
        heard nothing for long, and says that it knows nobody.
        """
        found = {}
        for name, replica in self.core.replicas.items():
            members = getattr(replica, "members", self.partitions[name])
            leader = replica.leader if self.config.node in members else -1
            epoch = replica.leader_epoch
            found[name] = LeaderAndIsr(self.config.node, name, leader, epoch, members, 0, members, broker_epoch=-1)
        return found

    def make_node_side(self) -> NodeSide:
        """Votes, and the family's messages."""
        return VotingPeers(self)

    def make_core(self, recovered: Recovered) -> Machine:
        """Its replicas are those of the assignment; where members change, it has one of every partition."""
        config = self.config
        machine = config.family.machine(
            config.node, config.incarnation, config.variant, config.cluster.settings, recovered, self.partitions
        )
        if isinstance(machine, Server):
            machine.clock_drift_ppm = CLOCK_DRIFT_PPM
        return machine

    def write(self, now: int, action: Any) -> Entry | None:  # noqa: ANN401 (any action that is for the disk)
        """A leader's own entry becomes a batch; it has no bytes before it lies in the log."""
        if type(action) is Append and not isinstance(action.batch.values, Records):
            batch = action.batch
            members = members_of(batch.values[0])
            own = voters(members, batch.epoch) if members else leader_change(self.config.node, batch.epoch)
            batch.values = Records(own)
        return super().write(now, action)

    def stepped(self, entries: list[Entry]) -> None:
        """Whoever asked for a vote about a partition that is not here gets no answer."""
        super().stepped(entries)
        request, self.request = self.request, None
        if request is not None:
            request.no_reply()
