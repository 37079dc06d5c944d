"""When a promise to a committed record began anew: every replica was there, in sync, and had the record committed.

A loss is judged by what befell the replicas since then. What was before, an unclean election or lost logs, excuses nothing any
more: whoever lost the record has it again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history.trace_events import KIND, PARTITION, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.baselines import Loss
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.log_chain import agree, in_common
from tidemark.checkers.replicas.replay import replay_before
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica

DISTURBANCES = frozenset({"elect", "isr-change", "stop", "start", "reassign"})
"""After one of these the replicas may not be whole any more; so they are looked at before each."""


class Renewal(NamedTuple):
    """The last moment before a loss at which all replicas had the record: trace index, and the leader's epoch."""

    since: int
    epoch: int


def renewals(
    trace: Sequence[TraceEvent],
    points: Sequence[TurningPoint],
    losses: Sequence[Loss],
    assignment: Mapping[str, Sequence[int]],
) -> dict[int, Renewal]:
    """Place in `losses` → its renewal; those without one are left out.

    Args:
        trace: of the run.
        points: its turning points.
        losses: of committed records.
        assignment: partition → its first replicas, as far as they are known.
    """
    pending: defaultdict[str, list[int]] = defaultdict(list)
    for place, loss in enumerate(losses):
        pending[loss.partition].append(place)
    begin, end = min(loss.committed for loss in losses), max(loss.destroyed for loss in losses)
    looked_at = {index for index, event in points if begin < index <= end and event[KIND] in DISTURBANCES}
    looked_at |= {loss.destroyed for loss in losses}
    life = IsrLife(trace)
    found: dict[int, Renewal] = {}
    reassigned: set[str] = set()
    ahead = deque(points)
    for index, replicas in replay_before(trace, looked_at):
        while ahead and ahead[0][0] < index:
            event = ahead.popleft()[1]
            life.step(event)
            if event[KIND] == "reassign":
                reassigned.add(event[PARTITION])
        for partition, places in pending.items():
            whole = [replica for replica in replicas.by_partition.get(partition, ()) if replica.assigned]
            nodes = {replica.node for replica in whole}
            if partition not in reassigned and not nodes.issuperset(assignment.get(partition, ())):
                continue
            leader = _leader_of_all(whole, life.isrs.get(partition, ()), life)
            if leader is None:
                continue
            for place in places:
                loss = losses[place]
                covered = loss.committed < index <= loss.destroyed and loss.offset < leader.hw
                if covered and leader.has(loss.offset, loss.record):
                    found[place] = Renewal(index - 1, leader.epoch)
    return found


def _leader_of_all(replicas: Sequence[ReplayedReplica], isr: Sequence[int], life: IsrLife) -> ReplayedReplica | None:
    """The newest leader, if all replicas are alive, in the ISR, and have what it has committed."""
    leaders = [replica for replica in replicas if replica.leading]
    if not leaders or not all(replica.node in isr and life.alive(replica.node) for replica in replicas):
        return None
    leader = max(leaders, key=lambda replica: replica.epoch)
    end = leader.hw
    if not 0 <= end <= len(leader.records):
        return None
    whole = all(
        len(replica.records) >= end and agree(replica.chain, leader.chain, in_common(replica, leader, end), end)
        for replica in replicas
    )
    return leader if whole else None
