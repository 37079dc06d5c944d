"""`divergence`: a follower's log differs from its leader's, after its first successful fetch in that leader's
epoch.

From that fetch until either changes epoch, stops or truncates, one of the two logs must be a prefix of the
other, from the larger of their log starts on. No promise permits anything else. Reported once per partition, epoch
and follower.

Broker 2 keeps record 8 of epoch 1 while its leader has record 9 of epoch 2 there:

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 2, "append", "t-0", 0, 1, (8,)),
...     (20, 1, "lead", "t-0", 2, 0, 0, (1,)),
...     (30, 1, "append", "t-0", 0, 2, (9,)),
...     (40, 2, "fetched", "t-0", 2, 1),
... ]))
>>> [(anomaly.name, anomaly.evidence["offset"]) for anomaly in verdict.anomalies]
[('divergence', 0)]
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import TIME, Fetched, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.log_chain import agree, first_difference, in_common
from tidemark.checkers.replicas.replayed_replica import Removal, ReplayedReplica, ReplayedReplicas, in_words
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "divergence"


class Divergence(Finder):
    """Compares the logs of pairs whenever one of them grows; notes the pairs that differ, for `log-matching`."""

    def on_fetched(self, index: int, event: Fetched, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """A new pair."""
        self._compare(index, event[TIME], replica, leader)

    def on_unlike(self, index: int, event: TraceEvent, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """Two logs of which one is the prefix of the other can only come to differ when the shorter one grows."""
        self._compare(index, event[TIME], replica, leader)

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """What is cut is compared again with the next fetch."""
        self._replicas.differing.pop(replica, None)

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """The final logs, should they not be what the trace led to."""
        for replica in replicas.by_place.values():
            if replica.source is not None and replica.final is not None:
                self._compare(index, replica.final.time, replica, replica.source)

    def _compare(self, index: int, time: int, follower: ReplayedReplica, leader: ReplayedReplica) -> None:
        end = min(len(follower.records), len(leader.records))
        begin = in_common(follower, leader, end)
        if agree(follower.chain, leader.chain, begin, end):
            return
        self._replicas.differing[follower] = leader
        if not self.is_new((follower.partition, leader.epoch, follower.node)):
            return
        offset = first_difference(follower.chain, leader.chain, end, begin)
        theirs, its = leader.records[offset], follower.records[offset]
        message = (
            f"Broker {follower.node} follows broker {leader.node} in epoch {leader.epoch} of "
            f"{follower.partition}, but at "
            f"{seconds(time)} its log differs: at offset {offset} it has {in_words(its)}, the leader {in_words(theirs)}."
        )
        evidence = {
            "leader": leader.node,
            "leader_epoch": leader.epoch,
            "follower": follower.node,
            "offset": offset,
            "leader_record": theirs,
            "follower_record": its,
            "trace_index": index,
        }
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, follower.partition, message, evidence=evidence))
