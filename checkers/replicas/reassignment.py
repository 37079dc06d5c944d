"""`reassignment`: an accepted order to reassign replicas was disobeyed, or does not end though nothing is left to wait for.

An operator's order that is accepted takes the place of the one before (KIP-455). So in the end the replicas, or those that a
reassignment under way is to leave, are those of the last accepted order; and once all of them are in the ISR, it ends. Who is not
in the ISR may keep it waiting for ever: why, others say (`stuck`). An order that nobody answered may have been taken, then or
later: what it asked for is right as well. A partition of which no order is known is not judged.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(replicas={"t-0": [1, 2, 3]}, trace=[
...     (5, 0, "elect", "t-0", 1, 0, (1, 2, 3), (), "initial", True, 0),
...     (10, 0, "ordered", "t-0", (4,), True), (10, 0, "reassign", "t-0", (4, 1, 2, 3), (4,), (1, 2, 3)),
...     (20, 0, "ordered", "t-0", (1, 2, 3, 4), True), (20, 0, "reassign", "t-0", (1, 2, 3, 4), (4,), (1, 2, 3)),
...     (30, 0, "reassign", "t-0", (4,), (), ()),
... ]))
>>> print(verdict.anomalies[0].message)
An operator ordered the replicas [1, 2, 3, 4] for t-0 at 0.000020 s, and that was accepted; since 0.000030 s they are [4].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Converged,
    Elect,
    IsrChange,
    Nodes,
    Ordered,
    Reassign,
)
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "reassignment"
_TAKEN_BACK = "reassignment-taken-back"
_CONTROLLER, _FOR_EVER = 0, 1 << 62
_KINDS = {kind.kind: kind for kind in (Ordered, Reassign, Elect, IsrChange, Converged)}


@dataclass(slots=True)
class _Orders:
    """What was ordered of a partition, and what has come of it.

    Attributes:
        settled: its replicas when no reassignment was under way, the last time. changed_at: when `replicas` came to be.
        last: the last accepted order. wanted: the replicas it asks for. perhaps: those of orders that nobody answered.
        in_sync_since: since when the ISR has been as it is.
        rested: whether it came to rest, and when that was looked at; `None` if nobody looked.
    """

    settled: frozenset[int]
    replicas: Nodes
    removing: Nodes = ()
    under_way: bool = False
    changed_at: int = 0
    last: Ordered | None = None
    last_index: int = -1
    wanted: frozenset[int] = frozenset()
    perhaps: set[frozenset[int]] = field(default_factory=set)
    isr: frozenset[int] = frozenset()
    in_sync_since: int = 0
    rested: Converged | None = None

    def step(self, index: int, event: Ordered | Reassign | Elect | IsrChange | Converged) -> None:
        """Take an event of the partition in."""
        if isinstance(event, Ordered):
            self._take_order(index, event)
        elif isinstance(event, Reassign):
            self.replicas, self.removing, self.changed_at = tuple(event.replicas), tuple(event.removing), event.time
            self.under_way = bool(event.adding or event.removing)
            if not self.under_way:
                self.settled = frozenset(event.replicas)
        elif isinstance(event, Converged):
            self.rested = event
        elif self.isr != (isr := frozenset(event.isr)):
            self.isr, self.in_sync_since = isr, event.time

    def _take_order(self, index: int, order: Ordered) -> None:
        wanted = frozenset(order.replicas) or self.settled
        if order.answered:
            self.last, self.last_index, self.wanted = order, index, wanted
        else:
            self.perhaps.add(wanted)

    def target(self) -> Nodes:
        """The replicas there will be, or are."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)


def reassignments(
    points: Sequence[TurningPoint], assignment: Mapping[str, Sequence[int]], patience_us: int = 0
) -> list[Anomaly]:
    """One for each partition at most, judged as of the end of the trace.

    `patience_us`: so long after the last change, or the last order, nothing is judged: what several machines wrote is in no order.
    """
    if not any(event[KIND] == Ordered.kind for _, event in points):
        return []
    partitions: dict[str, _Orders] = {}
    for index, event in points:
        if event[KIND] in _KINDS:
            told = _KINDS[event[KIND]](event)
            orders = partitions.get(told.partition)
            if orders is None:
                first = tuple(assignment.get(told.partition, ()))
                orders = partitions[told.partition] = _Orders(frozenset(first), first)
            orders.step(index, told)
    end = points[-1][1][TIME]
    return [one for name, orders in partitions.items() for one in _judged(name, orders, end, patience_us)]


def refused(points: Sequence[TurningPoint], nemesis: Sequence[NemesisOp], min_isr: int) -> Iterator[Anomaly]:
    """Orders to take back what was under way, with a controller that could take them, that were not accepted at once.

    What cannot be taken back without an unclean election may be refused (``cancelPartitionReassignment``), and what would take an
    ISR below min ISR (KIP-966).
    """
    orders = [op for op in nemesis if op[1] == "strike" and op[3] == _TAKEN_BACK and "under_way" in op[4]]
    last: dict[str, tuple[int, Reassign]] = {}
    isrs: dict[str, Nodes] = {}
    accepted: set[tuple[int, str]] = set()
    failed_until, place = -1, 0
    for time, _, _, _, detail in orders:
        while place < len(points) and points[place][1][TIME] <= time:
            index, event = points[place]
            place += 1
            if event[KIND] == Reassign.kind:
                last[event[PARTITION]] = index, Reassign(event)
            elif event[KIND] == Ordered.kind and not Ordered(event).replicas:
                accepted.add((event[TIME], event[PARTITION]))
            elif event[KIND] == Elect.kind:
                isrs[event[PARTITION]] = Elect(event).isr
            elif event[KIND] == IsrChange.kind:
                isrs[event[PARTITION]] = IsrChange(event).isr
            elif event[NODE] == _CONTROLLER and event[KIND] in ("stop", "start"):
                failed_until = event[TIME] if event[KIND] == "start" else _FOR_EVER
        partition = detail["partition"]
        index, begun = last.get(partition, (-1, None))
        isr = isrs.get(partition, ())
        if begun is None or not (begun.adding or begun.removing):
            continue
        left, origin = len({*isr} - {*begun.adding}), len(begun.replicas) - len(begun.adding)
        may_be = left > 0 and left >= min(len(isr), min_isr, origin)
        if may_be and (time, partition) not in accepted and failed_until < time:
            message = (
                f"An operator took back the reassignment of {partition} at {seconds(time)}, and that was refused, though one was "
                f"under way since {seconds(begun.time)}, and there was a controller."
            )
            evidence = {
                "ordered": [],
                "ordered_at": time,
                "replicas": list(begun.replicas),
                "under_way": True,
                "isr": sorted(isr),
                "trace_index": index,
            }
            yield Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence)


def _judged(partition: str, orders: _Orders, end: int, patience_us: int) -> Iterator[Anomaly]:
    order = orders.last
    if order is None or not orders.replicas:
        return
    at_end, rested = frozenset(orders.target()), orders.rested
    since = max(order.time, orders.changed_at)
    ends = "they are" if not orders.under_way else "a reassignment is under way that is to end with"
    if at_end != orders.wanted and at_end not in orders.perhaps:
        if end - since >= patience_us:
            yield _anomaly(partition, orders, order, since, f"since {seconds(since)} {ends} {list(orders.target())}.")
        return
    since = max(since, orders.in_sync_since)
    if orders.under_way and rested and not rested.ok and at_end <= orders.isr and rested.time - since >= patience_us:
        words = f"all of them are in the ISR since {seconds(since)}, and at {seconds(rested.time)} it has not ended."
        yield _anomaly(partition, orders, order, since, words)


def _anomaly(partition: str, orders: _Orders, order: Ordered, time: int, words: str) -> Anomaly:
    if order.replicas:
        asked = f"ordered the replicas {list(order.replicas)} for {partition}"
    else:
        asked = f"took back the reassignment of {partition}, which had the replicas {sorted(orders.wanted)}"
    message = f"An operator {asked} at {seconds(order.time)}, and that was accepted; {words}"
    evidence = {
        "ordered": sorted(orders.wanted),
        "ordered_at": order.time,
        "replicas": list(orders.target()),
        "under_way": orders.under_way,
        "isr": sorted(orders.isr),
        "trace_index": orders.last_index,
    }
    return Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence)
