"""`log-matching`: for a leader and its follower, the prefixes below the smaller of their high watermarks differ.

What both hold to be committed must be the same; no promise permits anything else. The pair exists as in
`divergence`, and so does what is compared. Prefixes that are equal at the smaller log end are equal at every high
watermark below it, so only pairs that diverge are looked at. Reported once per pair and epoch.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 2, "append", "t-0", 0, 1, (8,)),
...     (11, 2, "hw", "t-0", 1, 1, False),
...     (20, 1, "lead", "t-0", 2, 0, 0, (1,)),
...     (30, 1, "append", "t-0", 0, 2, (9,)),
...     (40, 2, "fetched", "t-0", 2, 1),
...     (50, 1, "hw", "t-0", 1, 2, True),
... ]))
>>> [(anomaly.name, anomaly.time) for anomaly in verdict.anomalies]
[('divergence', 40), ('log-matching', 50)]
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import TIME, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.log_chain import agree, first_difference, in_common
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas, in_words
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "log-matching"


class LogMatching(Finder):
    """Watches the pairs that `Divergence` found to differ. It must come after it among the checkers of a pass."""

    def on_differing(self, index: int, event: TraceEvent) -> None:
        """A high watermark may have passed the difference; a log may have grown into one below its high watermark; a new pair may
        differ from the beginning.
        """
        self._look(index, event[TIME])

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """The final logs."""
        for follower in list(replicas.differing):
            if follower.final is not None:
                self._look(index, follower.final.time)

    def _look(self, index: int, time: int) -> None:
        for follower, leader in list(self._replicas.differing.items()):
            if follower.source is not leader:
                del self._replicas.differing[follower]
                continue
            end = min(follower.hw, leader.hw, len(follower.records), len(leader.records))
            place = (follower.partition, leader.epoch, follower.node)
            differ = not agree(follower.chain, leader.chain, in_common(follower, leader, end), end)
            if differ and self.is_new(place):
                self.anomalies.append(_anomaly(index, time, follower, leader, end))


def _anomaly(index: int, time: int, follower: ReplayedReplica, leader: ReplayedReplica, end: int) -> Anomaly:
    offset = first_difference(follower.chain, leader.chain, end, in_common(follower, leader, end))
    theirs, its = leader.records[offset], follower.records[offset]
    message = (
        f"Below the high watermarks of broker {leader.node} ({leader.hw}), leader of epoch {leader.epoch} of "
        f"{follower.partition}, and of its follower broker {follower.node} ({follower.hw}) the logs differ at "
        f"{seconds(time)}: at offset {offset} the leader has {in_words(theirs)}, the follower {in_words(its)}."
    )
    evidence = {
        "leader": leader.node,
        "leader_epoch": leader.epoch,
        "leader_hw": leader.hw,
        "follower": follower.node,
        "follower_hw": follower.hw,
        "offset": offset,
        "leader_record": theirs,
        "follower_record": its,
        "trace_index": index,
    }
    return Anomaly(NAME, VIOLATION, time, follower.partition, message, evidence=evidence)
