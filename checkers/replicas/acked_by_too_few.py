"""`acked-by-too-few`: an acknowledgement with acks=all, and fewer replicas had ever had the record than ``min.insync.replicas``.

A leader may answer only when every member of its ISR has the record, and the ISR is as large as that. Of a change of
``min.insync.replicas`` it must have heard: until then the least that it ever was is enough. Where there is no ISR, enough is a
majority; where groups change, one of the group that the leader went by, and others do not count. Who had it and lost it again
counts: that was not the leader's to know. Told with the first such acknowledgement, once for each partition.

>>> from tidemark.checkers import History, check, sent
>>> verdict = check(History.of(min_isr=2, ops=[sent(31, "p1", "t-0", 7, 0)], trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1,)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 (offset 0) was acknowledged to p1 with acks=all at 0.000031 s, when broker 1 alone had ever had it: \
min.insync.replicas is 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.client_view import Ack, KeyView
from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import KIND, PARTITION, TIME, Append, Stored, TraceEvent
from tidemark.checkers.replicas.consensus.groups import group_of
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.heard_min_isr import HeardMinIsr
from tidemark.checkers.replicas.log_chain import agree
from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.replayed_replica import NEVER, ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "acked-by-too-few"


class _Few(NamedTuple):
    """A leader's high watermark moved, and too few replicas had what lies between: its node, and where that is told."""

    begin: int
    end: int
    leader: int
    at: int


class AckedByTooFew(Finder):
    """Notes what was committed when fewer replicas than enough had it; of that, and of what was never committed, it looks at each
    acknowledgement.

    Args:
        trace: what is passed through.
        keys: what was acknowledged.
        min_isr_of: partition → how many replicas are enough, whatever a leader has heard of.
        patience_us: how much later a replica may get the record, in µs.
        enough: how the message says how many that are.
        held_by: the event that tells who has a record; `Stored` where bookies have it, and replicas only read along.
        first: partition → its group at the beginning, for runs in which groups change.
        heard: how many are enough for a leader that has heard of changes.
    """

    def __init__(
        self,
        trace: Sequence[TraceEvent],
        keys: Mapping[str, KeyView],
        min_isr_of: Callable[[str], int],
        patience_us: int,
        enough: str = "min.insync.replicas is",
        held_by: type[Append | Stored] = Append,
        first: Mapping[str, Sequence[int]] | None = None,
        heard: HeardMinIsr | None = None,
    ) -> None:
        super().__init__()
        self._first = first or {}
        self._heard = heard
        self._leads: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        """Per partition: where in the trace somebody began to lead, and when."""
        self._groups: defaultdict[str, list[tuple[int, int, Sequence[int]]]] = defaultdict(list)
        """Per partition whose group changes: when a leader's high watermark moved, to where, and the group that it went by."""
        self._held_by = held_by
        self._told_by: defaultdict[Value, list[TraceEvent]] | None = None
        self._enough = enough
        self._trace = trace
        self._keys = keys
        self._min_isr_of = min_isr_of
        self._patience_us = patience_us
        self._moves: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        """Per partition: when a leader's high watermark moved, and to which offset."""
        self._few: defaultdict[str, list[_Few]] = defaultdict(list)

    def on_lead(self, index: int, event: trace_events.Lead, replica: ReplayedReplica) -> None:
        """Another may acknowledge what this one finds committed."""
        self._leads[replica.partition].append((index, event.time))

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A leader commits what its high watermark passes."""
        partition, time, hw = replica.partition, event[TIME], replica.hw
        self._moves[partition].append((time, hw))
        group = None
        if partition in self._replicas.configurations:
            group = group_of(self._replicas, replica, self._first.get(partition, ()))
            self._groups[partition].append((time, hw, group))
        if hw > previous:
            enough = (
                self._told(partition, replica.node, index, time) if group is None else self._enough_of(partition, group)
            )
            if not self._have_enough(replica, previous, hw, group, enough):
                self._few[partition].append(_Few(previous, hw, replica.node, index))

    def _told(self, partition: str, leader: int, index: int, by: int) -> int:
        """How many are enough for a leader by what it had heard of at a place in the trace, or may have until a time."""
        ever = self._min_isr_of(partition)
        return ever if self._heard is None else max(ever, self._heard.at_least(partition, leader, index, by))

    def _have_enough(
        self, leader: ReplayedReplica, begin: int, end: int, group: Sequence[int] | None, missing: int
    ) -> bool:
        chain = leader.chain
        if begin < 0 or end >= len(chain) or self._held_by is not Append:
            return False
        link = chain[end]
        for replica in self._replicas.by_partition[leader.partition]:
            if group is not None and replica.node not in group:
                continue
            other = replica.chain
            if len(other) > end and (other[end] == link or agree(other, chain, begin, end)):
                missing -= 1
                if missing <= 0:
                    return True
        return False

    def judged(self, losses: LostWrites) -> list[Anomaly]:
        """What was acknowledged, looked at after the whole trace."""
        found = []
        for partition, view in sorted(self._keys.items()):
            few = [
                (ack, holders)
                for ack in self._doubtful(partition, view)
                if (holders := self._holders(partition, ack)) is not None
            ]
            if few:
                found.append(self._anomaly(partition, few))
        return found

    def _doubtful(self, partition: str, view: KeyView) -> list[Ack]:
        """Acknowledgements of what was not seen to be committed before, or with too few replicas that had it."""
        moves, few = [*self._moves.get(partition, ()), (NEVER, 0)], self._few.get(partition, ())
        found = []
        hw = place = 0
        for ack in view.acked.values():
            time, _, _, offset, acks = ack
            while moves[place][0] <= time:
                hw = moves[place][1]
                place += 1
            if acks != "all" or offset is None:
                continue
            if offset >= hw or (few and any(begin <= offset < end for begin, end, _, _ in few)):
                found.append(ack)
        return found

    def _holders(self, partition: str, ack: Ack) -> list[int] | None:
        """Who had ever had the record in time; `None` if that is enough, or if nobody has told of it."""
        nodes = set()
        told = False
        for event in self._tellers(ack.value) if self._held_by is not Append else self._trace:
            if event[KIND] == self._held_by.kind and event[PARTITION] == partition:
                held = self._held_by(event)
                place = (ack.offset or 0) - held.base_offset
                if 0 <= place < len(held.values) and held.values[place] == ack.value:
                    told = True
                    if held.time <= ack.time + self._patience_us:
                        nodes.add(held.node)
        group = self._group_of(partition, ack)
        if group is not None:
            nodes &= set(group)
        return sorted(nodes) if told and len(nodes) < self._enough_for(partition, ack) else None

    def _group_of(self, partition: str, ack: Ack) -> Sequence[int] | None:
        """The group by which the record was committed, or by which others were before its acknowledgement, if it was not; `None`
        where groups never change.
        """
        found = None
        for time, hw, group in self._groups.get(partition, ()):
            if time > ack.time:
                break
            found = group
            if ack.offset is not None and hw > ack.offset:
                break
        return found

    def _enough_for(self, partition: str, ack: Ack) -> int:
        """Who has committed a record answers it, too, unless another leads before the answer: that one may have heard of less."""
        group = self._group_of(partition, ack)
        enough = self._enough_of(partition, group)
        if group is not None or ack.offset is None:
            return enough
        by = ack.time + self._patience_us
        for few in self._few[partition]:
            if few.begin <= ack.offset < few.end and self._trace[few.at][TIME] <= by:
                if not any(index > few.at and time <= by for index, time in self._leads[partition]):
                    enough = self._told(partition, few.leader, few.at, by)
                break
        return enough

    def _enough_of(self, partition: str, group: Sequence[int] | None) -> int:
        return self._min_isr_of(partition) if group is None else len(group) // 2 + 1

    def _tellers(self, value: Value) -> Sequence[TraceEvent]:
        """The events that tell of a record, looked up once for all."""
        if self._told_by is None:
            self._told_by = defaultdict(list)
            for held in self._held_by.among(self._trace):
                for one in held.values:
                    self._told_by[one].append(held)
        return self._told_by.get(value, ())

    def _anomaly(self, partition: str, few: Sequence[tuple[Ack, list[int]]]) -> Anomaly:
        ack, nodes = few[0]
        enough = self._enough_for(partition, ack)
        who = "nobody" if not nodes else f"broker {nodes[0]} alone" if len(nodes) == 1 else f"brokers {nodes} alone"
        more = "" if len(few) == 1 else f" (and {len(few) - 1} more such records)"
        message = (
            f"Record {ack.value} of {partition} (offset {ack.offset}) was acknowledged to {ack.process} with acks=all at "
            f"{seconds(ack.time)}, when {who} had ever had it{more}: {self._enough} {enough}."
        )
        evidence = {
            "process": ack.process, "offset": ack.offset, "value": ack.value, "holders": nodes, "min_isr": enough,
            "count": len(few),
        }  # fmt: skip
        return Anomaly(NAME, VIOLATION, ack.time, partition, message, evidence=evidence)
