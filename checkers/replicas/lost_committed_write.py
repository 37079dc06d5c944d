"""`lost-committed-write`: a committed record is missing from, or different in, the log of a later leader.

Committed means that it was below some leader's high watermark, or acknowledged under acks=all. The evidence
tells the record's life: who committed it and when, who was told, and what removed it, on the new leader and
everywhere else. A record that was acknowledged under acks=1 or 0, never passed by a high watermark, and gone in
the end is reported as permitted.

Broker 1 commits record 7; broker 2, which never had it, becomes the leader:

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
...     (40, 2, "lead", "t-0", 2, 0, 0, (2,)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['lost-committed-write', 'leader-completeness', 'hw-regression']
>>> print(verdict.anomalies[0].message)
Record 7 of t-0 (offset 0, epoch 1), committed by broker 1 in epoch 1 at 0.000030 s, is not in the log of broker 2, \
leader of epoch 2 since 0.000040 s: it never had it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from tidemark.checkers.history import trace_events
from tidemark.checkers.history.client_view import Ack, KeyView
from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.baselines import NOWHERE, Loss
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.contract import NOT_REPLICATED, PROMISES, Contract, LostRecord
from tidemark.checkers.replicas.renewal import Renewal, renewals
from tidemark.checkers.replicas.replayed_replica import HOLE, Record, Removal, ReplayedReplica, ReplayedReplicas
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement, seconds

NAME = "lost-committed-write"
MOST_PER_ELECTION = 20
"""So many records are told one by one, the rest as a number."""

Fates = dict[tuple[str, Value], Judgement]
"""``(partition, value)`` of every record the replicas lost → how that is judged; the gravest, if it was lost more than once."""

_Place = tuple[str, int, Record, int]
"""Partition, offset, record and trace index of a loss."""


class LostWrites:
    """Turns losses into anomalies, judged by the contract.

    Args:
        assignment: partition → its replicas at the beginning.
        contract: makes what judges them. Most runs lose nothing, and need none.

    Attributes:
        fates: how each lost record was judged.
        promises: those that losses are judged by (:mod:`tidemark.checkers.replicas.contract`); to be set before any is.
    """

    def __init__(
        self,
        trace: Sequence[TraceEvent],
        points: Sequence[TurningPoint],
        replicas: ReplayedReplicas,
        keys: Mapping[str, KeyView],
        assignment: Mapping[str, Sequence[int]],
        contract: Callable[[], Contract],
    ) -> None:
        self.fates: Fates = {}
        self.promises: tuple[str, ...] = PROMISES
        self._judged: dict[_Place, Judgement] = {}
        self._whole: dict[_Place, int] = {}
        self._assignment = assignment
        self._trace = trace
        self._replicas = replicas
        self._points = points
        self._keys = keys
        self._make_contract = contract

    def judgement(self, lost: LostRecord) -> Judgement:
        """How the loss of a record is to be taken, be it that it is not lost yet."""
        return self._contract.judge(lost)

    @cached_property
    def _contract(self) -> Contract:
        contract = self._make_contract()
        contract.promises = self.promises
        return contract

    def ack_of(self, partition: str, value: Value) -> Ack | None:
        """The acknowledgement of a record, if it was acknowledged."""
        view = self._keys.get(partition)
        return view.acked.get(value) if view is not None else None

    def judge(self, committed: Committed) -> list[Anomaly]:
        """One anomaly per destroyed record, up to `MOST_PER_ELECTION` for each new leader, then one for each judgement."""
        if not committed.losses:
            return []
        renewed = renewals(self._trace, self._points, committed.losses, self._assignment)
        for place, loss in enumerate(committed.losses):
            found = self._contract.judge(self._lost_record(committed, loss, renewed.get(place)))
            self._judged[_place(loss)] = found
            if place in renewed:
                self._whole[_place(loss)] = self._trace[renewed[place].since][TIME]
            value = (loss.partition, loss.record[1])
            if value not in self.fates or self.fates[value].verdict != VIOLATION:
                self.fates[value] = found
        anomalies = []
        for _, group in groupby(committed.losses, key=lambda loss: (loss.partition, loss.destroyed)):
            losses = sorted(group, key=lambda loss: (self.fate(loss).verdict != VIOLATION, loss.offset))
            anomalies += [self._anomaly(loss) for loss in losses[:MOST_PER_ELECTION]]
            rest: defaultdict[tuple[str, str | None], list[Loss]] = defaultdict(list)
            for loss in losses[MOST_PER_ELECTION:]:
                rest[self.fate(loss)[:2]].append(loss)
            anomalies += map(self._rest, rest.values())
        return anomalies

    def fate(self, loss: Loss) -> Judgement:
        """How this loss was judged."""
        return self._judged[_place(loss)]

    def _lost_record(self, committed: Committed, loss: Loss, renewal: Renewal | None) -> LostRecord:
        """Under acks=all the promise begins with the acknowledgement, should that come before the high watermark; and anew whenever
        all replicas have the record.
        """
        if renewal is not None:
            return LostRecord(loss.partition, loss.offset, loss.record, *renewal, loss.destroyed)
        begin = loss.committed
        ack = self.ack_of(loss.partition, loss.record[1])
        if ack is not None and ack.acks == "all":
            begin = min(begin, committed.index_after(ack.time))
        return LostRecord(loss.partition, loss.offset, loss.record, begin, loss.commit_epoch, loss.destroyed)

    def time_of(self, loss: Loss) -> int:
        """When the loss was certain, in µs."""
        time: int = self._trace[min(loss.destroyed, len(self._trace) - 1)][TIME]
        return time

    def _anomaly(self, loss: Loss) -> Anomaly:
        verdict, clause, breaks, beyond = self.fate(loss)
        ack = self.ack_of(loss.partition, loss.record[1])
        epoch, value = loss.record
        destroyed_by = self._destroyed_by(loss)
        evidence = {
            "partition": loss.partition,
            "offset": loss.offset,
            "value": value,
            "epoch": epoch,
            "commit_time": loss.commit_time,
            "committed_by": loss.commit_leader,
            "commit_epoch": loss.commit_epoch,
            "whole_time": self._whole.get(_place(loss)),
            "ack_time": ack.time if ack else None,
            "ack_process": ack.process if ack else None,
            "leader": loss.leader.node,
            "leader_epoch": loss.leader_epoch,
            "instead": loss.instead,
            "destroyed_by": destroyed_by,
            "elsewhere": self._elsewhere(loss),
        }
        whose = f"broker {loss.leader.node}, leader of epoch {loss.leader_epoch}"
        if loss.how == "nowhere":
            whose = f"any replica. The last to lead was {whose}"
        message = (
            f"Record {value} of {loss.partition} (offset {loss.offset}, epoch {epoch}), "
            f"{self._birth(loss, ack)}, is not in the log of {whose}"
        )
        if loss.how == "election":
            message += f" since {seconds(self.time_of(loss))}"
        message += f": {_cause(destroyed_by, loss)}" + (f"; {beyond}." if beyond else ".")
        return Anomaly(NAME, verdict, self.time_of(loss), loss.partition, message, clause, breaks, evidence)

    def _birth(self, loss: Loss, ack: Ack | None) -> str:
        if loss.commit_leader is None and ack is not None:
            held = ""
            if loss.record[0] == NOWHERE:
                elsewhere = any(replica.ever_had(ack.value) for replica in self._replicas.by_partition[loss.partition])
                held = f" (which no broker ever held{' there' if elsewhere else ''})"
            return f"acknowledged to {ack.process} under acks=all at {seconds(ack.time)}{held}"
        told = f" and acknowledged to {ack.process} at {seconds(ack.time)}" if ack else ""
        return f"committed by broker {loss.commit_leader} in epoch {loss.commit_epoch} at {seconds(loss.commit_time)}{told}"

    def _destroyed_by(self, loss: Loss) -> dict[str, Any]:
        removal = loss.leader.removal_of(loss.offset, loss.record, before=loss.destroyed + 1)
        if removal is not None:
            return self._removal(loss.leader, removal)
        if loss.how == "nowhere" and loss.leader.has(loss.offset, loss.record):
            return self._taken_away(loss)
        deleted = self._deleted_by(loss)
        if deleted is not None:
            return deleted
        never: dict[str, Any] = {"node": loss.leader.node, "event": "never-had-it", "elected": None}
        for index in range(min(loss.destroyed, len(self._trace) - 1), -1, -1):
            event = self._trace[index]
            if event[KIND] == "elect" and event[PARTITION] == loss.partition:
                elect = trace_events.Elect(event)
                if elect.leader_epoch == loss.leader_epoch:
                    never["elected"] = {
                        "time": elect.time, "trace_index": index, "how": elect.how, "clean": elect.clean, "isr": elect.isr,
                    }  # fmt: skip
                    break
        return never

    def _taken_away(self, loss: Loss) -> dict[str, Any]:
        """The reassignment since which the last leader, which has the record, is no replica."""
        node = loss.leader.node
        index, was = 0, True
        replicas: Sequence[int] = ()
        for at, event in self._points:
            told = _replicas_from(event) if event[PARTITION] == loss.partition else None
            if told is not None:
                if was and node not in told:
                    index, replicas = at, told
                was = node in told
        return {
            "node": node, "event": "no-replica", "time": self._trace[index][TIME], "trace_index": index, "replicas": replicas,
        }  # fmt: skip

    def _deleted_by(self, loss: Loss) -> dict[str, Any] | None:
        """What moved the leader's log start beyond the record, if anything did before the loss was found."""
        leader = loss.leader
        for index in range(min(loss.destroyed, len(self._trace) - 1), -1, -1):
            event = self._trace[index]
            if event[NODE : PARTITION + 1] == (leader.node, "log-start", leader.partition):
                moved = trace_events.LogStart(event)
                if moved.start <= loss.offset:
                    return None
                return {
                    "node": moved.node, "event": moved.kind, "time": moved.time, "trace_index": index, "start": moved.start,
                    "how": moved.how,
                }  # fmt: skip
        return None

    def _elsewhere(self, loss: Loss) -> list[dict[str, Any]]:
        """What became of the record on the other replicas that had it."""
        told: list[dict[str, Any]] = []
        for replica in sorted(self._replicas.by_partition[loss.partition], key=lambda replica: replica.node):
            if replica is loss.leader:
                continue
            if replica.has(loss.offset, loss.record):
                told.append({"node": replica.node, "event": "still-there"})
            elif removal := replica.removal_of(loss.offset, loss.record):
                told.append(self._removal(replica, removal))
        return told

    def _removal(self, replica: ReplayedReplica, removal: Removal) -> dict[str, Any]:
        event = self._trace[removal.at]
        time, node, name = event[TIME], event[NODE], event[KIND]
        old_leo = removal.to + len(removal.records)
        told = {"node": node, "event": name, "time": time, "trace_index": removal.at, "to": removal.to}
        told["old_leo"] = old_leo
        if name == "truncate":
            cut = trace_events.Truncate(event)
            told["reason"], told["leader_epoch"] = cut.reason, cut.leader_epoch
        elif name == "recovered":
            stops = [stop.how for stop in replica.stops if stop.at < removal.at]
            told["after"] = stops[-1] if stops else None
            told["lost"] = trace_events.Recovered(event).lost
        return told

    def _rest(self, losses: Sequence[Loss]) -> Anomaly:
        first = losses[0]
        fates = [self.fate(loss) for loss in losses]
        violations = sum(fate.verdict == VIOLATION for fate in fates)
        breaks = tuple(dict.fromkeys(promise for fate in fates for promise in fate.breaks))
        whose = (
            "any replica"
            if first.how == "nowhere"
            else f"broker {first.leader.node}, leader of epoch {first.leader_epoch}"
        )
        message = f"{len(losses)} more committed records of {first.partition} are not in the log of {whose}."
        evidence = {
            "count": len(losses),
            "violations": violations,
            "first_offset": min(loss.offset for loss in losses),
            "last_offset": max(loss.offset for loss in losses),
            "leader": first.leader.node,
            "leader_epoch": first.leader_epoch,
        }
        verdict, clause, *_ = fates[0]
        return Anomaly(NAME, verdict, self.time_of(first), first.partition, message, clause, breaks, evidence)

    def acknowledged_and_gone(self, committed: Committed) -> list[Anomaly]:
        """Compare acknowledged records with the last leader's log: under acks=1 and 0 what nobody committed may go."""
        anomalies = []
        for partition, view in sorted(self._keys.items()):
            leader = committed.newest_leader(partition)
            if leader is None or not view.acked:
                continue
            there = {value for _, value in leader.records} | committed.deleted_values(partition)
            gone = [
                ack for value, ack in view.acked.items() if value not in there and (partition, value) not in self.fates
            ]
            anomalies += [self._gone(partition, ack, leader) for ack in gone if ack.acks != "all"]
            self.fates.update({(partition, ack.value): NOT_REPLICATED for ack in gone if ack.acks != "all"})
        return anomalies

    def _gone(self, partition: str, ack: Ack, leader: ReplayedReplica) -> Anomaly:
        message = (
            f"Record {ack.value} of {partition}, acknowledged to {ack.process} under "
            f"acks={ack.acks} at {seconds(ack.time)} "
            f"but never below a leader's high watermark, is not in the log of the last leader, broker {leader.node}."
        )
        evidence = {
            "partition": partition,
            "offset": ack.offset,
            "value": ack.value,
            "ack_time": ack.time,
            "ack_process": ack.process,
            "leader": leader.node,
            "leader_epoch": leader.epoch,
        }
        return Anomaly(NAME, PERMITTED, ack.time, partition, message, NOT_REPLICATED.clause, (), evidence)


def _replicas_from(event: TraceEvent) -> Sequence[int] | None:
    """Who the replicas are from an event on; `None` if it does not say so."""
    if event[KIND] == "reassign":
        return trace_events.Reassign(event).replicas
    if event[KIND] == "members" and trace_events.Members(event).committed:
        return trace_events.Members(event).replicas
    return None


def _place(loss: Loss) -> _Place:
    return loss.partition, loss.offset, loss.record, loss.destroyed


def _cause(destroyed_by: dict[str, Any], loss: Loss) -> str:
    event = destroyed_by["event"]
    if event == "never-had-it":
        elected = destroyed_by["elected"]
        cause = "it never had it"
        if elected:
            cause += f", and was elected ({elected['how']}) at {seconds(elected['time'])}"
    elif event == "no-replica":
        replicas = ", ".join(map(str, destroyed_by["replicas"]))
        cause = (
            f"it has it, and is no replica any more since {seconds(destroyed_by['time'])}; the replicas are {replicas}"
        )
    elif event == "log-start":
        cause = (
            f"its log starts at {destroyed_by['start']} since {seconds(destroyed_by['time'])} ({destroyed_by['how']})"
        )
    elif event == "truncate":
        cause = (
            f"it truncated its log from {destroyed_by['old_leo']} to {destroyed_by['to']} at "
            f"{seconds(destroyed_by['time'])} ({destroyed_by['reason']})"
        )
    elif event == "recovered":
        cause = (
            f"its recovery at {seconds(destroyed_by['time'])} after stop {destroyed_by['after']} "
            f"left {destroyed_by['to']} of "
            f"{destroyed_by['old_leo']} records"
        )
    elif event == "removed":
        cause = f"a reassignment removed its replica, and it deleted the log at {seconds(destroyed_by['time'])}"
    else:
        cause = f"the event {event} at {seconds(destroyed_by['time'])} removed it"
    if loss.instead is not None and loss.instead not in (loss.record, HOLE):
        cause += f"; it has record {loss.instead[1]} of epoch {loss.instead[0]} there"
    return cause
