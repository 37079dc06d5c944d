"""`state-machine-safety`: two servers hold different entries to be committed at the same offset (Raft, figure 3). Once a server.

What a server's high watermark passes it would apply, and shows to clients. Permitted if the record that was there first was
permitted to be lost.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 1, "hw", "t-0", 1, 1, True),
...     (30, 2, "append", "t-0", 0, 2, (8,)),
...     (40, 2, "hw", "t-0", 1, 2, True),
... ]))
>>> print(verdict.named("state-machine-safety")[0].message)
Broker 2 holds record 8 of epoch 2 to be committed at offset 0 of t-0 since 0.000040 s; broker 1 had committed record 7 of epoch 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tidemark.checkers.history.trace_events import TIME, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.log_chain import first_difference
from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.replayed_replica import Record, ReplayedReplica
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement, seconds

NAME = "state-machine-safety"


@dataclass(slots=True)
class _Applied:
    """What was first held to be committed, by offset: the records, their chain, and who said so."""

    records: list[Record] = field(default_factory=list)
    chain: list[int] = field(default_factory=lambda: [0])
    nodes: list[int] = field(default_factory=list)


class StateMachineSafety(Finder):
    """Compares what high watermarks pass."""

    def __init__(self) -> None:
        super().__init__()
        self._applied: dict[str, _Applied] = {}

    def on_any_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A server applies what its high watermark passed."""
        applied = self._applied.setdefault(replica.partition, _Applied())
        hw = min(replica.hw, len(replica.records))
        known = len(applied.records)
        shared = min(hw, known)
        if replica.chain[shared] != applied.chain[shared]:
            self._differ(index, event, replica, applied, shared)
        elif hw > known:
            applied.records += replica.records[known:hw]
            applied.chain += replica.chain[known + 1 : hw + 1]
            applied.nodes += [replica.node] * (hw - known)

    def judged(self, losses: LostWrites) -> list[Anomaly]:
        """The anomalies; another record may be committed in the place of one that was permitted to be lost."""
        return [
            _like_its_loss(one, losses.fates.get((one.partition, one.evidence["other_record"][1])))
            for one in self.anomalies
        ]

    def _differ(self, index: int, event: TraceEvent, replica: ReplayedReplica, applied: _Applied, end: int) -> None:
        time, node, partition = event[TIME], replica.node, replica.partition
        if not self.is_new((partition, node)):
            return
        offset = first_difference(replica.chain, applied.chain, end)
        its, theirs = replica.records[offset], applied.records[offset]
        message = (
            f"Broker {node} holds record {its[1]} of epoch {its[0]} to be committed at offset {offset} of {partition} since "
            f"{seconds(time)}; broker {applied.nodes[offset]} had committed record {theirs[1]} of epoch {theirs[0]}."
        )
        evidence = {
            "node": node, "other": applied.nodes[offset], "offset": offset, "record": its, "other_record": theirs,
            "trace_index": index,
        }  # fmt: skip
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))


def _like_its_loss(anomaly: Anomaly, fate: Judgement | None) -> Anomaly:
    if fate is None or fate.verdict != PERMITTED:
        return anomaly
    return replace(anomaly, verdict=PERMITTED, clause=fate.clause, breaks=fate.breaks)
