"""`unsafe-commit`: a leader called records committed while a server without them could still be elected.

Committed means that every later leader has it (Raft, *leader completeness*). A server can be elected if for a majority its log is
at least as up to date as theirs: a higher last generation, or the same and no shorter a log. Logs of servers that are down count,
as they will be when these are back. Where groups change, a server needs a majority of the newest group in its own log, and does not
stand if it is not in that. Told with the first such commit of a partition, and no more once a server has lost its disk.

A record on half of an even number of servers is safe by this measure, as long as it takes more than half to elect (Howard et al.,
"Flexible Paxos", 2016); that fewer than a majority have it is `acked-by-too-few`.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", replicas={"t-0": [1, 2, 3]}, trace=[
...     (10, 3, "append", "t-0", 0, 2, (9,)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "lead", "t-0", 3, 1, 0, ()),
...     (40, 2, "append", "t-0", 0, 1, (7,)),
...     (50, 1, "hw", "t-0", 1, 3, True),
... ]))
>>> print(verdict.named("unsafe-commit")[0].message)
Broker 1, leader of epoch 3 of t-0, called record 7 (offset 0, epoch 1) committed at 0.000050 s; broker 3 lacks it, \
and has a log that brokers [1, 2, 3] would vote for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidemark.checkers.history.trace_events import Hw, Stop, TraceEvent
from tidemark.checkers.replicas.consensus.groups import group_of
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.log_chain import first_difference
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "unsafe-commit"


class UnsafeCommit(Finder):
    """Looks, with every commit, at who could be elected."""

    def __init__(self, members: Mapping[str, Sequence[int]]) -> None:
        super().__init__()
        self._members = members
        self._disk_lost = False

    def on_stop(self, index: int, event: Stop) -> None:
        """Who has forgotten its log has forgotten what it said it had."""
        self._disk_lost = self._disk_lost or event.how == "disk"

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A leader commits."""
        partition = replica.partition
        if self._disk_lost or partition in self._told_of:
            return
        hw = min(replica.hw, len(replica.records))
        first = self._members.get(partition, ())
        replicas = self._replicas
        nodes = first
        if partition in replicas.configurations:
            nodes = sorted({*first, *(one.node for one in replicas.by_partition[partition])})
        for other in [replicas.at(node, partition) for node in nodes]:
            if len(other.chain) > hw and other.chain[hw] == replica.chain[hw]:
                continue
            members = group_of(replicas, other, first)
            if other.node not in members:
                continue
            group = [replicas.at(node, partition) for node in members]
            voters = [one.node for one in group if _last(other) >= _last(one)]
            if len(voters) > len(group) // 2:
                self._tell(index, event, replica, other, voters)
                return

    def _tell(
        self, index: int, event: TraceEvent, leader: ReplayedReplica, other: ReplayedReplica, voters: list[int]
    ) -> None:
        self._told_of.add(leader.partition)
        committed = Hw(event)
        time, node, partition, epoch = committed.time, committed.node, committed.partition, committed.leader_epoch
        shared = min(committed.hw, len(leader.records), len(other.records))
        same = other.chain[shared] == leader.chain[shared]
        offset = shared if same else first_difference(leader.chain, other.chain, shared)
        record = leader.records[offset]
        message = (
            f"Broker {node}, leader of epoch {epoch} of {partition}, called record {record[1]} (offset {offset}, epoch "
            f"{record[0]}) committed at {seconds(time)}; broker {other.node} lacks it, and has a log that brokers {voters} would "
            f"vote for."
        )
        evidence = {
            "leader": node, "leader_epoch": epoch, "offset": offset, "record": record, "electable": other.node,
            "voters": voters, "trace_index": index,
        }  # fmt: skip
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))


def _last(replica: ReplayedReplica) -> tuple[int, int]:
    return (replica.records[-1][0] if replica.records else -1, len(replica.records))
