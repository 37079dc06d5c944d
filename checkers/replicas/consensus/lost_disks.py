"""What a lost disk excuses where there is no ISR: servers that vote rely on what each of them said, and one that comes back empty
under its old name has forgotten what it said.

Raft keeps its invariants as long as servers recover with what is on their stable storage (Ongaro and Ousterhout, 2014, section 5).
A server that has lost its disk may vote again in a generation in which it has voted, so that this has two leaders; a majority of
such servers begins its generations anew. From the first lost disk of one of a partition's servers on, what rests on votes and on
what servers said they have (`rests_on_memory` in the registry) is permitted there (`lost-disk`); before it, and in other
partitions, it is a violation. `stuck` is permitted if something of that list has happened in the partition: conflicts do not come
to rest.

What a server promises for itself no other's disk excuses: `leader-append-only`, a `double-vote` of one that has kept its disk, a
high watermark that falls within a reign.

Where entries lie on bookies nobody votes: a ledger's number and end are the metadata store's. There lost disks excuse `stuck` and
`no-leader`, once as many as an ack quorum are lost: an entry may be on none of those that are left, and nobody can recover its
ledger, and lead.

>>> from tidemark.checkers import History, check
>>> led = [(10, 1, "lead", "t-0", 1, 0, 0, ()), (30, 2, "lead", "t-0", 1, 0, 0, ())]
>>> lost = [(20, 3, "stop", "", "disk")]
>>> for trace in (led, [led[0], *lost, led[1]]):
...     anomaly = check(History.of(isr=False, contract="majority", trace=trace)).named("two-leaders")[0]
...     print(anomaly.verdict, anomaly.clause)
violation None
permitted lost-disk
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Members, Stop
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.contract import ACK_QUORUM, MAJORITY, VOID_BECAUSE
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement

STUCK, NO_LEADER = "stuck", "no-leader"


class LostDisks:
    """Which servers of which partition have lost their disks by when.

    Args:
        points: the trace's turning points.
        meta: the history's.
    """

    def __init__(self, points: Sequence[TurningPoint], meta: Mapping[str, Any]) -> None:
        self._votes: bool = meta.get("votes", True)
        self._clause = VOID_BECAUSE[MAJORITY if self._votes else ACK_QUORUM]
        self._enough: int = 1 if self._votes else meta.get("min_isr", 1)
        self._servers: dict[str, set[int]] = {name: set(nodes) for name, nodes in meta.get("replicas", {}).items()}
        self._lost: defaultdict[int, list[int]] = defaultdict(list)
        for _, event in points:
            if event[KIND] == "members":
                self._servers.setdefault(event[PARTITION], set()).update(Members(event).replicas)
            elif event[KIND] == "stop" and Stop(event).how == "disk":
                self._lost[event[NODE]].append(event[TIME])

    def judge(self, partition: str, time: int) -> Judgement | None:
        """How what follows from forgetting is to be taken at a time, in µs; `None` if enough had kept their disks."""
        servers = self._servers.get(partition)
        lost = sum(times[0] <= time for node, times in self._lost.items() if servers is None or node in servers)
        return Judgement(PERMITTED, self._clause, ()) if lost >= self._enough else None

    def excuse(self, anomalies: Sequence[Anomaly], rests_on_memory: Collection[str]) -> list[Anomaly]:
        """The anomalies, with those permitted that follow from lost disks."""
        if not self._votes:
            return [self._excused(one, STUCK, NO_LEADER) for one in anomalies]
        judged = [self._excused(one, *rests_on_memory) for one in anomalies]
        conflicts = {one.partition for one in judged if one.clause == self._clause}
        return [self._excused(one, STUCK) if one.partition in conflicts else one for one in judged]

    def _excused(self, anomaly: Anomaly, *names: str) -> Anomaly:
        if anomaly.verdict != VIOLATION or anomaly.name not in names:
            return anomaly
        judged = self.judge(anomaly.partition, anomaly.time)
        return anomaly if judged is None else replace(anomaly, verdict=judged.verdict, clause=judged.clause, breaks=())
