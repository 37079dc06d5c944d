"""`isr-quorum`: a leader goes by a smaller ISR than the controller's.

A leader commits what its *maximal* ISR has: its ISR, and those it has asked the controller to take in. The controller may elect
anybody in its own ISR, so each of these must be in the leader's maximal one (KIP-497; the invariant of Kafka's TLA+ specification).
Else the leader may commit without one who may be elected: a *near miss*. Once per leader epoch, of the leader of the controller's
newest epoch. Before KIP-497 leaders wrote the ISR to ZooKeeper themselves, under a lock that holds back the high watermark: nothing
is told of a run in which no leader ever had a maximal ISR.

In a trace of several machines' clocks it must last `LIVE_PATIENCE_US`.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (5, 0, "elect", "t-0", 1, 1, (1, 2), (), "initial", True, 0),
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "isr", "t-0", (1,), (1,), 1),
...     (30, 1, "isr", "t-0", (1,), (1, 2), 1),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1, leader of t-0 in epoch 1, goes by the ISR [1] at 0.000020 s, and the controller by [1, 2]: it may commit without 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checkers.history.trace_events import TIME, Elect, Event, Isr, IsrChange, Lead, Stop, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas
from tidemark.checkers.verdict.verdict import NEAR_MISS, Anomaly, seconds

NAME = "isr-quorum"


@dataclass(slots=True)
class _Seat:
    """A partition: the controller's newest epoch and ISR, and by what its leader goes."""

    epoch: int = -1
    isr: tuple[int, ...] = ()
    leader: int = -1
    leader_epoch: int = -1
    maximal: tuple[int, ...] = ()
    narrow: tuple[int, Event, tuple[int, ...], tuple[int, ...]] | None = None
    """Since which event the leader's is the smaller one: trace index, event, and both."""


class IsrQuorum(Finder):
    """Compares the ISR that leaders go by with the controller's."""

    def __init__(self, trace: Sequence[TraceEvent], patience_us: int) -> None:
        super().__init__()
        self._patience_us = patience_us
        self._seats: dict[str, _Seat] = {}
        self._trace = trace
        self._has_maximal = False

    def on_membership(self, index: int, event: Event) -> None:
        """The controller decides."""
        if isinstance(event, (Elect, IsrChange)):
            seat = self._seats.setdefault(event.partition, _Seat())
            seat.isr = event.isr
            if isinstance(event, Elect):
                seat.epoch = event.leader_epoch
            self._compare(index, event, seat)

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """A leader begins with the ISR that it was told."""
        seat = self._seats.setdefault(event.partition, _Seat())
        if event.leader_epoch >= seat.leader_epoch:
            seat.leader, seat.leader_epoch, seat.maximal = event.node, event.leader_epoch, event.isr
            self._compare(index, event, seat)

    def on_own_isr(self, index: int, event: Isr, replica: ReplayedReplica) -> None:
        """It asks for another, or hears that it has it."""
        seat = self._seats.setdefault(event.partition, _Seat())
        self._has_maximal |= event.isr != event.maximal
        if event.node == seat.leader and replica.epoch == seat.leader_epoch:
            seat.maximal = event.maximal
            self._compare(index, event, seat)

    def on_stop(self, index: int, event: Stop) -> None:
        """A leader that is dead goes by nothing."""
        for seat in self._seats.values():
            if seat.leader == event.node:
                seat.leader, seat.narrow = -1, None

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """What lasts to the end is told if it has lasted long enough."""
        for name in sorted(self._seats):
            self._settle(name, self._seats[name], self._trace[-1][TIME])
        if not self._has_maximal:
            self.anomalies.clear()

    def _compare(self, index: int, event: Event, seat: _Seat) -> None:
        self._settle(event.partition, seat, event.time)
        if seat.leader < 0 or seat.leader_epoch != seat.epoch or set(seat.maximal) >= set(seat.isr):
            seat.narrow = None
        elif seat.narrow is None:
            seat.narrow = index, event, seat.maximal, seat.isr
            self._settle(event.partition, seat, event.time)

    def _settle(self, partition: str, seat: _Seat, now: int) -> None:
        """Tell what has lasted long enough."""
        if seat.narrow is None:
            return
        index, event, maximal, isr = seat.narrow
        if now - event.time < self._patience_us or not self.is_new((partition, seat.leader_epoch)):
            return
        without = [node for node in isr if node not in maximal]
        message = (
            f"Broker {seat.leader}, leader of {partition} in epoch {seat.leader_epoch}, goes by the ISR {sorted(maximal)} at "
            f"{seconds(event.time)}, and the controller by {sorted(isr)}: it may commit without "
            f"{', '.join(map(str, without))}."
        )
        evidence = {
            "leader": seat.leader, "leader_epoch": seat.leader_epoch, "maximal": maximal, "isr": isr, "trace_index": index,
        }  # fmt: skip
        self.anomalies.append(Anomaly(NAME, NEAR_MISS, event.time, partition, message, evidence=evidence))
